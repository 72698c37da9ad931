// The bundler defines these constants (tools/bundle.mjs); sources and built libraries do not have them.
declare const BUILD_VERSION: string | undefined;
declare const BUILD_COMMIT: string | undefined;

/** `v` and a semantic version; `dev` when run from sources. */
export const VERSION = typeof BUILD_VERSION === 'string' ? BUILD_VERSION : 'dev';

/** First 8 digits of the commit; `unknown` when run from sources or built without git history. */
export const COMMIT = typeof BUILD_COMMIT === 'string' ? BUILD_COMMIT : 'unknown';
