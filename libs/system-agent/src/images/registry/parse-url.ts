/** `URL.parse`, which Node 20 does not have; undefined for text that is not a URL. */
export function parseUrl(text: string, base?: URL): URL | undefined {
  return URL.canParse(text, base?.href) ? new URL(text, base) : undefined;
}
