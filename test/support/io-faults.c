/* Fails one call of write, sync, truncate or read on one file, for test/support/io-faults.ts. Loaded with LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WRITE = 1, SYNC = 2, TRUNCATE = 4, READ = 8 };

struct order {
  volatile int armed;  /* 1 while a call is to fail */
  volatile int ops;    /* which calls count */
  volatile int nth;    /* which of them fails, from 1 */
  volatile int error;  /* the errno; 0: half of a write is written, and ENOSPC is answered to the rest */
  volatile int seen;   /* calls so far */
  volatile int hit;    /* calls that failed */
  volatile int onward; /* 1: every later call fails too */
  volatile int unused;
  char file[64];       /* the end of the path */
};

static struct order *order;

__attribute__((constructor)) static void load(void) {
  const char *path = getenv("IO_FAULTS");
  int fd = path == NULL ? -1 : open(path, O_RDWR);
  if (fd < 0) return;
  void *at = mmap(NULL, sizeof(struct order), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at != MAP_FAILED) order = at;
  close(fd);
}

static int fails(int fd, int op) {
  char link[64], path[4096];
  if (order == NULL || !order->armed || !(order->ops & op)) return 0;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  size_t end = strlen(order->file);
  if ((size_t)length < end || strcmp(path + length - end, order->file) != 0) return 0;
  int seen = __sync_add_and_fetch(&order->seen, 1);
  if (seen != order->nth && !(order->onward && seen > order->nth)) return 0;
  __sync_add_and_fetch(&order->hit, 1);
  return 1;
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static ssize_t failed_write(int fd, const void *bytes, size_t count, off64_t at) {
  if (order->error == 0 && count > 1) {
    NEXT(pwrite64)(fd, bytes, count / 2, at);
    errno = ENOSPC;
    return -1;
  }
  errno = order->error == 0 ? ENOSPC : order->error;
  return -1;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t at) {
  return fails(fd, WRITE) ? failed_write(fd, bytes, count, at) : NEXT(pwrite64)(fd, bytes, count, at);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t at) {
  return fails(fd, WRITE) ? failed_write(fd, bytes, count, at) : NEXT(pwrite)(fd, bytes, count, at);
}

static int failed(void) {
  errno = order->error == 0 ? EIO : order->error;
  return -1;
}

ssize_t pread64(int fd, void *bytes, size_t count, off64_t at) {
  return fails(fd, READ) ? failed() : NEXT(pread64)(fd, bytes, count, at);
}

ssize_t pread(int fd, void *bytes, size_t count, off_t at) {
  return fails(fd, READ) ? failed() : NEXT(pread)(fd, bytes, count, at);
}

ssize_t read(int fd, void *bytes, size_t count) {
  return fails(fd, READ) ? failed() : NEXT(read)(fd, bytes, count);
}

int fsync(int fd) { return fails(fd, SYNC) ? failed() : NEXT(fsync)(fd); }
int fdatasync(int fd) { return fails(fd, SYNC) ? failed() : NEXT(fdatasync)(fd); }
int ftruncate(int fd, off_t length) { return fails(fd, TRUNCATE) ? failed() : NEXT(ftruncate)(fd, length); }
int ftruncate64(int fd, off64_t length) { return fails(fd, TRUNCATE) ? failed() : NEXT(ftruncate64)(fd, length); }
