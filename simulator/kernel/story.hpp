// Stories: what a daemon does, from top to bottom. A story is a coroutine, and `co_await` says what it waits for.
//
// Whoever is asked for a wait begins it (a timer, a place in a line). An event of the process ends it, and wakes the
// story up where it waits.
#pragma once
#include <coroutine>

#include "calendar.hpp"

namespace oltpsim {

// A story, or a part of one, which waits for its end. It begins when it is awaited.
class [[nodiscard]] Story {
public:
    // Where a story is over, the one that it is a part of goes on, if that has had to wait.
    struct End {
        bool await_ready() noexcept { return false; }
        template <class Promise>
        std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> story) noexcept {
            return story.promise().whole;
        }
        void await_resume() noexcept {}
    };

    struct promise_type {
        std::coroutine_handle<> whole = std::noop_coroutine();

        Story get_return_object() { return Story(std::coroutine_handle<promise_type>::from_promise(*this)); }
        std::suspend_always initial_suspend() noexcept { return {}; }
        End final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() { throw; }  // to whoever lets it go on
    };

    Story() = default;
    Story(Story&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
    Story& operator=(Story&& other) noexcept {
        std::swap(handle, other.handle);
        return *this;
    }
    ~Story() {
        if (handle) handle.destroy();
    }

    bool await_ready() {
        handle.resume();
        return handle.done();
    }
    void await_suspend(std::coroutine_handle<> whole) { handle.promise().whole = whole; }
    void await_resume() {}

private:
    friend class Process;

    std::coroutine_handle<promise_type> handle;

    explicit Story(std::coroutine_handle<promise_type> handle) : handle(handle) {}
};

// The next event of a process.
struct Woken {
    std::coroutine_handle<>& place;

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> story) const { place = story; }
    void await_resume() const {}
};

// A task that lives a story, which its first event begins.
class Process {
public:
    const i32 who;

    Process(i32 who, Calendar& calendar) : who(who), calendar(calendar) {}

    void live(Story life) {
        story = std::move(life);
        place = story.handle;
    }

    // An event: the story goes on to its next wait.
    void wake() {
        check(!place.done());
        place.resume();
    }

    Woken woken() { return {place}; }

    Woken timeout(i64 delay_ns) {
        calendar.after(delay_ns, EventKind::task, who);
        return woken();
    }

private:
    Calendar& calendar;
    Story story;
    std::coroutine_handle<> place;  // where the story, or a part of it, waits
};

}  // namespace oltpsim
