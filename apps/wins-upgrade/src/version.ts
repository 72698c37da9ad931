declare const BUILD_VERSION: string | undefined;
declare const BUILD_COMMIT: string | undefined;

/** The release, `v` and a semantic version; `dev` when run from sources. */
export const VERSION = typeof BUILD_VERSION === 'string' ? BUILD_VERSION : 'dev';

/** The source revision that was built. */
export const COMMIT = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : 'unknown';
