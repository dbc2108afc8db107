/* Records each write, truncation, removal and sync of database files, for test/support/io-journal.ts. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 3, UNLINK = 4 };

static const char *const files[] = {"/lethe.db", "/lethe.db-wal", "/keys.db", "/keys.db-wal"};

struct record {
  uint32_t op;
  uint32_t file;
  uint64_t at;
  uint64_t length; /* of the bytes that follow */
};

static int journal = -1;

__attribute__((constructor)) static void load(void) {
  const char *path = getenv("IO_JOURNAL");
  if (path != NULL) journal = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
}

static int file_at(const char *path) {
  size_t length = strlen(path);
  for (int file = 0; file < 4; file++) {
    size_t end = strlen(files[file]);
    if (length >= end && strcmp(path + length - end, files[file]) == 0) return file;
  }
  return -1;
}

static int file_of(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return -1;
  path[length] = 0;
  return file_at(path);
}

static void note(int op, int file, uint64_t at, const void *bytes, size_t length) {
  if (journal < 0 || file < 0) return;
  struct record record = {op, file, at, length};
  struct iovec parts[] = {{&record, sizeof record}, {(void *)bytes, length}};
  if (writev(journal, parts, length == 0 ? 1 : 2) != (ssize_t)(sizeof record + length)) abort();
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Held from the record of a change to its end, and from the begin of a sync to its record. No thread changes a file during
 * the sync of another thread, which would take the change for durable. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

/* A change is recorded before it is made, a sync after it: a kill between leaves a journal that promises less. */
#define CHANGED(type, op, file, at, bytes, length, call) \
  pthread_mutex_lock(&turn); \
  note(op, file, at, bytes, length); \
  type result = call; \
  pthread_mutex_unlock(&turn); \
  return result;

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  CHANGED(ssize_t, WRITE, file_of(fd), at, bytes, count, NEXT(pwrite64)(fd, bytes, count, at))
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  CHANGED(ssize_t, WRITE, file_of(fd), at, bytes, count, NEXT(pwrite)(fd, bytes, count, at))
}

int ftruncate(int fd, off_t length) {
  CHANGED(int, TRUNCATE, file_of(fd), length, NULL, 0, NEXT(ftruncate)(fd, length))
}

int ftruncate64(int fd, off64_t length) {
  CHANGED(int, TRUNCATE, file_of(fd), length, NULL, 0, NEXT(ftruncate64)(fd, length))
}

int unlink(const char *path) { CHANGED(int, UNLINK, file_at(path), 0, NULL, 0, NEXT(unlink)(path)) }

static int synced(int fd, int (*sync)(int)) {
  pthread_mutex_lock(&turn);
  int result = sync(fd);
  if (result == 0) note(SYNC, file_of(fd), 0, NULL, 0);
  pthread_mutex_unlock(&turn);
  return result;
}

int fsync(int fd) { return synced(fd, NEXT(fsync)); }
int fdatasync(int fd) { return synced(fd, NEXT(fdatasync)); }
