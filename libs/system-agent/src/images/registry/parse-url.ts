/** Undefined for what is no URL: `URL.parse`, which Node 20 has not. */
export function parseUrl(text: string, base?: URL): URL | undefined {
  return URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
}
