PHP_ARG_ENABLE([larder],
  [whether to enable larder],
  [AS_HELP_STRING([--enable-larder], [Enable the shared-memory cache])],
  [yes])

if test "$PHP_LARDER" != "no"; then
  case $host_os in
    linux*) ;;
    *) AC_MSG_ERROR([larder needs Linux: open-file-description locks and MAP_FIXED_NOREPLACE]) ;;
  esac

  PHP_NEW_EXTENSION([larder],
    [larder.c shared_memory.c opening.c reading.c storing.c changing.c remember.c hooks.c strays.c tags.c \
     engine/aside.c engine/attach.c engine/carried.c engine/change.c engine/check.c engine/clock.c engine/count.c engine/descriptor.c engine/directory.c engine/enter.c engine/evict.c engine/formats.c \
     engine/geometry.c engine/get.c engine/ghost.c engine/handle.c engine/in_flight.c engine/index.c engine/key.c engine/lease.c engine/lock.c engine/map.c engine/pin.c engine/publish.c engine/quota.c \
     engine/recent.c engine/reserve.c engine/run.c engine/save.c engine/segment.c engine/slot.c engine/snapshot.c engine/stale.c engine/stats.c engine/store.c engine/stray.c engine/tag.c engine/take.c engine/token.c engine/walk.c \
     image/abi.c image/ask.c image/class.c image/date.c image/make.c image/measure.c image/move.c image/read.c image/rebuild.c \
     image/refusal.c image/seen.c image/settle.c image/sort.c image/survey.c image/tell.c image/unfold.c image/wake.c image/write.c],
    [$ext_shared],,
    [-std=gnu11 -fvisibility=hidden -DZEND_ENABLE_STATIC_TSRMLS_CACHE=1])
  PHP_ADD_BUILD_DIR([$ext_builddir/engine $ext_builddir/image], [1])
  PHP_ADD_INCLUDE([$ext_srcdir])
fi
