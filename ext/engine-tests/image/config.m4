dnl A module of its own that exercises ../../image without the engine; never installed.
PHP_ARG_ENABLE([image-tests], [for the tests of images], [AS_HELP_STRING([--enable-image-tests], [Test images])], [yes])

if test "$PHP_IMAGE_TESTS" != "no"; then
  PHP_NEW_EXTENSION([image_tests],
    [image_tests.c describe.c literals.c place.c image/abi.c image/ask.c image/class.c image/date.c image/make.c image/measure.c image/move.c image/read.c image/rebuild.c dnl
     image/refusal.c image/seen.c image/settle.c image/sort.c image/survey.c image/tell.c image/unfold.c image/wake.c image/write.c],
    [$ext_shared],, [-DZEND_ENABLE_STATIC_TSRMLS_CACHE=1 -Wall -Wextra -Wno-unused-parameter])
  PHP_ADD_BUILD_DIR([$ext_builddir/image])
fi
