/* Records the file system calls of a process on one folder, and lets chosen ones fail.

Loaded by LD_PRELOAD into a process that uses a store. Every call that changes a file of the folder is appended to a log
with its data, in the order in which the calls happened; recording.py reads the log. Flushes do not reach the disk:
the log says what a disk would have to keep, and a flush takes as long as it is asked to.

    ANTIPHON_FAULTS_FOLDER    absolute path of the folder
    ANTIPHON_FAULTS_LOG       file that gets the log
    ANTIPHON_FAULTS_FLUSH_US  how long a flush takes, in microseconds
    ANTIPHON_FAULTS_PLAN      calls that fail: "call ending first count errno; ...": of the calls named create, write or
                              flush on paths with that ending, the first-th and the next count - 1; a write that fails
                              has written its first half; a flush with errno -1 reports success and flushes nothing
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { OPEN = 1, CLOSE, WRITE, TRUNCATE, FLUSH, FLUSHED, RENAME, UNLINK, FAULT };
enum { FILES = 4096, FAULTS = 16 };

struct record {
    uint8_t call;
    uint8_t created;
    uint16_t unused;
    int32_t fd;
    int64_t offset;
    int64_t error;
    uint32_t path_size;
    uint32_t data_size;
};

struct fault {
    char call[8];
    char ending[32];
    long first, count, seen;
    int error;
};

static char folder[4096];
static char *paths[FILES]; /* of the open files of the folder, by descriptor */
static struct fault faults[FAULTS];
static int fault_count;
static int log_fd = -1;
static long flush_us;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name) {
    void *function = dlsym(RTLD_NEXT, name);
    if (function == NULL) {
        fprintf(stderr, "shim: there is no function %s\n", name);
        abort();
    }
    return function;
}

__attribute__((constructor)) static void start(void) {
    const char *name = getenv("ANTIPHON_FAULTS_FOLDER");
    const char *log = getenv("ANTIPHON_FAULTS_LOG");
    const char *wait = getenv("ANTIPHON_FAULTS_FLUSH_US");
    const char *plan = getenv("ANTIPHON_FAULTS_PLAN");
    if (name == NULL || log == NULL || strlen(name) >= sizeof folder)
        return;
    strcpy(folder, name);
    flush_us = wait == NULL ? 0 : atol(wait);
    for (; plan != NULL && fault_count < FAULTS; plan = strchr(plan, ';'), plan = plan == NULL ? NULL : plan + 1) {
        struct fault *f = &faults[fault_count];
        if (sscanf(plan, " %7s %31s %ld %ld %d", f->call, f->ending, &f->first, &f->count, &f->error) == 5)
            fault_count++;
    }
    log_fd = syscall(SYS_openat, AT_FDCWD, log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

static int is_inside(const char *path) {
    size_t size = strlen(folder);
    return log_fd >= 0 && strncmp(path, folder, size) == 0 && (path[size] == '/' || path[size] == 0);
}

static const char *path_of(int fd) { return fd >= 0 && fd < FILES ? paths[fd] : NULL; }

/* The caller holds the lock. */
static void append(int call, int created, int fd, int64_t offset, int error, const char *path, const void *data,
                   size_t size) {
    struct record record = {call, created, 0, fd, offset, error, path == NULL ? 0 : strlen(path), size};
    struct iovec parts[3] = {{&record, sizeof record}, {(void *)path, record.path_size}, {(void *)data, size}};
    size_t total = sizeof record + record.path_size + size;
    int before = errno;
    if (syscall(SYS_writev, log_fd, parts, 3) != (long)total) {
        fprintf(stderr, "shim: the log cannot be written\n");
        abort();
    }
    errno = before;
}

/* Return the error of a call that is to fail, or 0; the caller holds the lock. */
static int planned_error(const char *call, const char *path) {
    int error = 0;
    for (struct fault *f = faults; f < faults + fault_count; f++) {
        size_t size = strlen(f->ending);
        int ends = strlen(path) >= size && strcmp(path + strlen(path) - size, f->ending) == 0;
        if (strcmp(f->call, call) != 0 || !ends)
            continue;
        f->seen++;
        if (f->seen >= f->first && f->seen < f->first + f->count)
            error = f->error;
    }
    return error;
}

static int open_file(int at, const char *path, int flags, mode_t mode) {
    if (!is_inside(path))
        return syscall(SYS_openat, at, path, flags, mode);
    pthread_mutex_lock(&lock);
    int is_new = (flags & O_CREAT) && syscall(SYS_faccessat, AT_FDCWD, path, F_OK) != 0;
    int planned = is_new ? planned_error("create", path) : 0;
    if (planned != 0) {
        append(FAULT, 0, -1, 0, planned, path, "create", 6);
        pthread_mutex_unlock(&lock);
        errno = planned;
        return -1;
    }
    int fd = syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && fd < FILES) {
        free(paths[fd]);
        paths[fd] = strdup(path);
        append(OPEN, is_new, fd, 0, 0, path, NULL, 0);
        if ((flags & O_TRUNC) && !is_new)
            append(TRUNCATE, 0, fd, 0, 0, NULL, NULL, 0);
    }
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return fd;
}

#define MODE(flags, mode) \
    mode_t mode = 0; \
    if ((flags) & (O_CREAT | O_TMPFILE)) { \
        va_list arguments; \
        va_start(arguments, flags); \
        mode = va_arg(arguments, int); \
        va_end(arguments); \
    }

int open(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_file(at, path, flags, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE(flags, mode)
    return open_file(at, path, flags, mode);
}

int close(int fd) {
    if (path_of(fd) == NULL)
        return REAL(close)(fd);
    pthread_mutex_lock(&lock);
    append(CLOSE, 0, fd, 0, 0, NULL, NULL, 0);
    free(paths[fd]);
    paths[fd] = NULL;
    int result = REAL(close)(fd);
    pthread_mutex_unlock(&lock);
    return result;
}

/* Write at an offset, or, if it is negative, where the file stands. */
static ssize_t write_file(int fd, const void *data, size_t size, off_t offset) {
    pthread_mutex_lock(&lock);
    int error = planned_error("write", paths[fd]);
    off_t start = offset;
    if (start < 0) {
        struct stat status;
        int appends = fcntl(fd, F_GETFL) & O_APPEND;
        start = appends && fstat(fd, &status) == 0 ? status.st_size : lseek(fd, 0, SEEK_CUR);
    }
    size_t part = error == 0 ? size : size / 2;
    ssize_t result = offset < 0 ? syscall(SYS_write, fd, data, part) : syscall(SYS_pwrite64, fd, data, part, offset);
    if (result > 0)
        append(WRITE, 0, fd, start, 0, NULL, data, result);
    if (error != 0) {
        append(FAULT, 0, fd, start, error, paths[fd], "write", 5);
        errno = error;
        result = -1;
    }
    error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

ssize_t write(int fd, const void *data, size_t size) {
    return path_of(fd) == NULL ? syscall(SYS_write, fd, data, size) : write_file(fd, data, size, -1);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
    return path_of(fd) == NULL ? REAL(pwrite)(fd, data, size, offset) : write_file(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) { return pwrite(fd, data, size, offset); }

int ftruncate(int fd, off_t size) {
    if (path_of(fd) == NULL)
        return REAL(ftruncate)(fd, size);
    pthread_mutex_lock(&lock);
    int result = REAL(ftruncate)(fd, size);
    if (result == 0)
        append(TRUNCATE, 0, fd, size, 0, NULL, NULL, 0);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

/* The lock is not held while the disk works, so that other threads continue. */
static int flush(int fd) {
    pthread_mutex_lock(&lock);
    int error = planned_error("flush", paths[fd]);
    append(FLUSH, 0, fd, 0, 0, NULL, NULL, 0);
    pthread_mutex_unlock(&lock);
    if (flush_us > 0)
        usleep(flush_us);
    if (error < 0)
        return 0;
    pthread_mutex_lock(&lock);
    if (error != 0)
        append(FAULT, 0, fd, 0, error, paths[fd], "flush", 5);
    append(FLUSHED, 0, fd, 0, error, NULL, NULL, 0);
    pthread_mutex_unlock(&lock);
    errno = error;
    return error == 0 ? 0 : -1;
}

int fsync(int fd) { return path_of(fd) == NULL ? REAL(fsync)(fd) : flush(fd); }

int fdatasync(int fd) { return path_of(fd) == NULL ? REAL(fdatasync)(fd) : flush(fd); }

int rename(const char *from, const char *to) {
    if (!is_inside(from))
        return REAL(rename)(from, to);
    pthread_mutex_lock(&lock);
    int result = REAL(rename)(from, to);
    if (result == 0)
        append(RENAME, 0, -1, 0, 0, from, to, strlen(to));
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}

int unlink(const char *path) {
    if (!is_inside(path))
        return REAL(unlink)(path);
    pthread_mutex_lock(&lock);
    int result = REAL(unlink)(path);
    if (result == 0)
        append(UNLINK, 0, -1, 0, 0, path, NULL, 0);
    int error = errno;
    pthread_mutex_unlock(&lock);
    errno = error;
    return result;
}
