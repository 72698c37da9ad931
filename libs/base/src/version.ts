// Constants that the bundler defines (tools/bundle.mjs); sources and built libraries do not have them.
declare const BUILD_VERSION: string | undefined;
declare const BUILD_COMMIT: string | undefined;

/** Release: `v` and a semantic version. `dev` when the program runs from sources. */
export const VERSION = typeof BUILD_VERSION === 'string' ? BUILD_VERSION : 'dev';

/** The first 8 digits of the built commit. `unknown` when the program runs from sources or was built without a git history. */
export const COMMIT = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : 'unknown';
