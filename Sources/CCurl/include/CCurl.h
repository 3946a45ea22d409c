// libcurl, loaded while the program runs: https://curl.se/libcurl/c/. Only what a store of objects needs.
//
// curl_easy_setopt has a variable number of arguments, which Swift cannot pass. The program is not linked with libcurl,
// so it also starts where there is none.

#ifndef CCURL_H
#define CCURL_H

#include <stddef.h>
#include <stdint.h>

/// A request. The callbacks get `context`; all pointers must live until ccurl_perform returns.
struct ccurl_request {
    const char *url;
    /// "GET", "HEAD", "PUT", "POST" or "DELETE".
    const char *method;
    /// Lines "Name: value", or "Name:" for a header that libcurl must leave out.
    const char *const *headers;
    int header_count;
    /// A file with certificates to trust; NULL for the system's.
    const char *certificates;
    /// The number of bytes to send; -1 for none.
    int64_t upload_length;
    /// Fills the buffer; returns the number of bytes, or -1 to end the request.
    ptrdiff_t (*read)(void *context, char *buffer, size_t capacity);
    /// The next read begins at this offset; returns whether it can.
    int (*seek)(void *context, int64_t offset);
    /// Takes bytes of the answer; returns whether to go on.
    int (*write)(void *context, const char *bytes, size_t count);
    /// Takes a line of the answer's header.
    void (*header)(void *context, const char *line, size_t count);
    /// Called at least once a second; returns whether to go on.
    int (*is_wanted)(void *context);
    void *context;
    long connect_milliseconds;
    /// A request without any progress for this long fails.
    long idle_seconds;
};

/// How a request ended.
enum ccurl_outcome {
    CCURL_ANSWERED = 0,
    /// No connection, or it broke, or no progress.
    CCURL_UNREACHABLE,
    /// The certificate is not trusted, or the file of certificates cannot be read.
    CCURL_UNTRUSTED,
    /// A callback ended it.
    CCURL_ENDED,
    CCURL_BAD_ADDRESS,
    /// The answer is no HTTP.
    CCURL_NO_HTTP,
};

#define CCURL_MESSAGE 256

/// Whether libcurl could be loaded; any thread.
int ccurl_is_available(void);

/// A connection that may be used again, by one thread at a time; NULL without libcurl or memory.
void *ccurl_open(void);
void ccurl_close(void *connection);

/// Sends a request and waits for the end of the answer. `message` gets libcurl's words if it fails.
enum ccurl_outcome ccurl_perform(
    void *connection, const struct ccurl_request *request, long *status, char message[CCURL_MESSAGE]);

#endif
