// Pages that the log has whole: at its first change after a checkpoint has begun a page is logged as it is, so that one
// that a crash tears can be mended.
#pragma once
#include "records.hpp"

namespace oltpsim {

class PageImages {
public:
    explicit PageImages(const form::System& system)
        : bytes(system.log.full_page_bytes), logged_since(bytes > 0 ? system.program.pages : 0, 0) {}

    // From here on no page is in the log.
    void begin_checkpoint() { checkpoint++; }

    // Bytes that a change logs on top of its own. A new page needs no image: whoever mends makes it anew.
    i64 added_bytes(i64 page, bool is_new) {
        if (bytes == 0 || logged_since[page] == checkpoint) return 0;
        logged_since[page] = checkpoint;
        return is_new ? 0 : bytes;
    }

private:
    const i64 bytes;
    i32 checkpoint = 1;
    Array<i32> logged_since;  // checkpoint, by page
};

}  // namespace oltpsim
