#include "CCurl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

// Numbers of libcurl's interface, which never change (curl/curl.h).
enum {
    OPT_WRITEDATA = 10001,
    OPT_URL = 10002,
    OPT_READDATA = 10009,
    OPT_ERRORBUFFER = 10010,
    OPT_WRITEFUNCTION = 20011,
    OPT_READFUNCTION = 20012,
    OPT_LOW_SPEED_LIMIT = 19,
    OPT_LOW_SPEED_TIME = 20,
    OPT_HTTPHEADER = 10023,
    OPT_HEADERDATA = 10029,
    OPT_SSLVERSION = 32,
    OPT_CUSTOMREQUEST = 10036,
    OPT_NOPROGRESS = 43,
    OPT_NOBODY = 44,
    OPT_UPLOAD = 46,
    OPT_POST = 47,
    OPT_PROGRESSDATA = 10057,
    OPT_CAINFO = 10065,
    OPT_HEADERFUNCTION = 20079,
    OPT_HTTPGET = 80,
    OPT_HTTP_VERSION = 84,
    OPT_BUFFERSIZE = 98,
    OPT_NOSIGNAL = 99,
    OPT_INFILESIZE_LARGE = 30115,
    OPT_POSTFIELDSIZE_LARGE = 30120,
    OPT_CONNECTTIMEOUT_MS = 156,
    OPT_SEEKFUNCTION = 20167,
    OPT_SEEKDATA = 10168,
    OPT_PROTOCOLS = 181,
    OPT_XFERINFOFUNCTION = 20219,
    OPT_UPLOAD_BUFFERSIZE = 280,

    INFO_RESPONSE_CODE = 0x200000 + 2,
    PROTOCOLS_HTTP_HTTPS = 3,
    HTTP_1_1 = 2,
    TLS_1_2 = 6,
    GLOBAL_DEFAULT = 3,
    READ_ABORT = 0x10000000,
};

struct curl_slist;

static int (*global_init)(long);
static void *(*easy_init)(void);
static void (*easy_cleanup)(void *);
static void (*easy_reset)(void *);
static int (*easy_setopt)(void *, int, ...);
static int (*easy_perform)(void *);
static int (*easy_getinfo)(void *, int, ...);
static const char *(*easy_strerror)(int);
static struct curl_slist *(*slist_append)(struct curl_slist *, const char *);
static void (*slist_free_all)(struct curl_slist *);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int is_available;

static void load(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;
    for (size_t i = 0; library == NULL && i < sizeof names / sizeof *names; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
    *(void **)&global_init = dlsym(library, "curl_global_init");
    *(void **)&easy_init = dlsym(library, "curl_easy_init");
    *(void **)&easy_cleanup = dlsym(library, "curl_easy_cleanup");
    *(void **)&easy_reset = dlsym(library, "curl_easy_reset");
    *(void **)&easy_setopt = dlsym(library, "curl_easy_setopt");
    *(void **)&easy_perform = dlsym(library, "curl_easy_perform");
    *(void **)&easy_getinfo = dlsym(library, "curl_easy_getinfo");
    *(void **)&easy_strerror = dlsym(library, "curl_easy_strerror");
    *(void **)&slist_append = dlsym(library, "curl_slist_append");
    *(void **)&slist_free_all = dlsym(library, "curl_slist_free_all");
    is_available = global_init && easy_init && easy_cleanup && easy_reset && easy_setopt && easy_perform
        && easy_getinfo && easy_strerror && slist_append && slist_free_all && global_init(GLOBAL_DEFAULT) == 0;
}

int ccurl_is_available(void) {
    pthread_once(&once, load);
    return is_available;
}

void *ccurl_open(void) { return ccurl_is_available() ? easy_init() : NULL; }

void ccurl_close(void *connection) { easy_cleanup(connection); }

static size_t on_read(char *buffer, size_t size, size_t count, void *data) {
    const struct ccurl_request *request = data;
    ptrdiff_t result = request->read(request->context, buffer, size * count);
    return result < 0 ? READ_ABORT : (size_t)result;
}

static int on_seek(void *data, int64_t offset, int origin) {
    const struct ccurl_request *request = data;
    return origin == 0 && request->seek(request->context, offset) ? 0 : 1;
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data) {
    const struct ccurl_request *request = data;
    return request->write(request->context, bytes, size * count) ? size * count : 0;
}

static size_t on_header(char *line, size_t size, size_t count, void *data) {
    const struct ccurl_request *request = data;
    request->header(request->context, line, size * count);
    return size * count;
}

static int on_progress(void *data, int64_t a, int64_t b, int64_t c, int64_t d) {
    const struct ccurl_request *request = data;
    (void)a, (void)b, (void)c, (void)d;
    return !request->is_wanted(request->context);
}

static enum ccurl_outcome outcome(int code) {
    switch (code) {
    case 0: return CCURL_ANSWERED;
    // CURLE_WRITE_ERROR, CURLE_ABORTED_BY_CALLBACK
    case 23: case 42: return CCURL_ENDED;
    // CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT
    case 1: case 3: return CCURL_BAD_ADDRESS;
    // CURLE_PEER_FAILED_VERIFICATION and others of certificates
    case 51: case 58: case 59: case 60: case 77: case 82: case 83: case 90: case 91: return CCURL_UNTRUSTED;
    // CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL of an answer
    case 8: return CCURL_NO_HTTP;
    default: return CCURL_UNREACHABLE;
    }
}

enum ccurl_outcome ccurl_perform(
    void *curl, const struct ccurl_request *request, long *status, char message[CCURL_MESSAGE]) {
    struct curl_slist *headers = NULL;
    for (int i = 0; i < request->header_count; i++) {
        struct curl_slist *longer = slist_append(headers, request->headers[i]);
        if (longer == NULL) {
            slist_free_all(headers);
            strcpy(message, "out of memory");
            return CCURL_UNREACHABLE;
        }
        headers = longer;
    }
    message[0] = 0;
    *status = 0;
    // The connection and the session of TLS stay.
    easy_reset(curl);
    easy_setopt(curl, OPT_ERRORBUFFER, message);
    easy_setopt(curl, OPT_URL, request->url);
    easy_setopt(curl, OPT_PROTOCOLS, (long)PROTOCOLS_HTTP_HTTPS);
    easy_setopt(curl, OPT_HTTP_VERSION, (long)HTTP_1_1);
    easy_setopt(curl, OPT_SSLVERSION, (long)TLS_1_2);
    easy_setopt(curl, OPT_NOSIGNAL, 1L);
    easy_setopt(curl, OPT_HTTPHEADER, headers);
    easy_setopt(curl, OPT_CONNECTTIMEOUT_MS, request->connect_milliseconds);
    easy_setopt(curl, OPT_LOW_SPEED_LIMIT, 1L);
    easy_setopt(curl, OPT_LOW_SPEED_TIME, request->idle_seconds);
    easy_setopt(curl, OPT_BUFFERSIZE, 256L << 10);
    if (request->certificates != NULL) easy_setopt(curl, OPT_CAINFO, request->certificates);
    easy_setopt(curl, OPT_WRITEFUNCTION, on_write);
    easy_setopt(curl, OPT_WRITEDATA, (void *)request);
    easy_setopt(curl, OPT_HEADERFUNCTION, on_header);
    easy_setopt(curl, OPT_HEADERDATA, (void *)request);
    easy_setopt(curl, OPT_NOPROGRESS, 0L);
    easy_setopt(curl, OPT_XFERINFOFUNCTION, on_progress);
    easy_setopt(curl, OPT_PROGRESSDATA, (void *)request);
    if (strcmp(request->method, "HEAD") == 0) {
        easy_setopt(curl, OPT_NOBODY, 1L);
    } else if (request->upload_length >= 0) {
        easy_setopt(curl, OPT_UPLOAD, 1L);
        easy_setopt(curl, OPT_UPLOAD_BUFFERSIZE, 512L << 10);
        easy_setopt(curl, OPT_INFILESIZE_LARGE, request->upload_length);
        easy_setopt(curl, OPT_READFUNCTION, on_read);
        easy_setopt(curl, OPT_READDATA, (void *)request);
        easy_setopt(curl, OPT_SEEKFUNCTION, on_seek);
        easy_setopt(curl, OPT_SEEKDATA, (void *)request);
        easy_setopt(curl, OPT_CUSTOMREQUEST, request->method);
    } else {
        easy_setopt(curl, OPT_HTTPGET, 1L);
        easy_setopt(curl, OPT_CUSTOMREQUEST, request->method);
    }
    int code = easy_perform(curl);
    if (code == 0) easy_getinfo(curl, INFO_RESPONSE_CODE, status);
    if (code != 0 && message[0] == 0) {
        strncpy(message, easy_strerror(code), CCURL_MESSAGE - 1);
        message[CCURL_MESSAGE - 1] = 0;
    }
    // The buffers of this call are not the next one's.
    easy_reset(curl);
    slist_free_all(headers);
    return outcome(code);
}
