#include <sys/mman.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/status_macros.h"
#include "runtime/device.h"

namespace weft {
namespace {

class Emulated final : public Device {
 public:
  std::string_view name() const override { return "emulated"; }

  absl::StatusOr<std::shared_ptr<void>> Allocate(MemoryClass memory, size_t bytes) override {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    if (bytes > SIZE_MAX - page) return Exhausted(bytes, " bytes for ", MemoryClassName(memory), " are more than there are");
    const size_t size = std::max<size_t>(1, (bytes + page - 1) / page) * page;
    std::lock_guard lock(memory_mutex_);
    void* const block = mmap(nullptr, size, Protection(), MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) return Exhausted("no ", size, " bytes for ", MemoryClassName(memory), " on the device '", name(), "'");
    blocks_.emplace(static_cast<char*>(block), size);
    return std::shared_ptr<void>(block, [this](void* p) { Free(static_cast<char*>(p)); });
  }

  bool Owns(const void* address) const override {
    std::lock_guard lock(memory_mutex_);
    auto it = blocks_.upper_bound(static_cast<char*>(const_cast<void*>(address)));
    if (it == blocks_.begin()) return false;
    --it;
    return static_cast<const char*>(address) < it->first + it->second;
  }

  void CopyIn(const Tensor& from_host, const Tensor& to) override {
    const auto* bytes = static_cast<const char*>(from_host.data());
    Submit([staged = std::string(bytes, bytes + from_host.bytes()), to] { std::memcpy(to.data(), staged.data(), staged.size()); });
  }
  void CopyOut(const Tensor& from, const Tensor& to_host) override {
    Submit([from, to_host] { std::memcpy(to_host.data(), from.data(), from.bytes()); });
  }

  void Submit(std::function<void()> task) override {
    std::lock_guard lock(queue_mutex_);
    if (!std::exchange(started_, true)) std::thread([this] { Work(); }).detach();
    queue_.push_back(std::move(task));
    ++given_;
    changed_.notify_all();
  }

  void Wait() override {
    std::unique_lock lock(queue_mutex_);
    changed_.wait(lock, [this, mine = given_] { return done_ >= mine; });
  }

 private:
  int Protection() const { return open_ ? PROT_READ | PROT_WRITE : PROT_NONE; }

  void Open(bool open) {
    std::lock_guard lock(memory_mutex_);
    open_ = open;
    for (const auto& [block, size] : blocks_) mprotect(block, size, Protection());
  }

  void Free(char* block) {
    std::lock_guard lock(memory_mutex_);
    munmap(block, blocks_.at(block));
    blocks_.erase(block);
  }

  void Work() {
    std::unique_lock lock(queue_mutex_);
    while (true) {
      changed_.wait(lock, [this] { return !queue_.empty(); });
      std::function<void()> task = std::move(queue_.front());
      queue_.pop_front();
      lock.unlock();
      Open(true);
      task();
      Open(false);
      task = nullptr;  // what it held goes before it counts as done
      lock.lock();
      ++done_;
      changed_.notify_all();
    }
  }

  mutable std::mutex memory_mutex_;
  std::map<char*, size_t> blocks_;
  bool open_ = false;

  std::mutex queue_mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  int64_t given_ = 0, done_ = 0;
  bool started_ = false;
};

}  // namespace

// Never destroyed: its worker may outlive main.
Device& EmulatedDevice() {
  static Emulated* const device = new Emulated;
  return *device;
}

}  // namespace weft
