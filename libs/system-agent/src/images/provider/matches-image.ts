/**
 * Whether an image is one of the kubelet's `matchImages`: as many labels of the host, each by `*` for any number of characters and `?` for one; the same
 * port; and a path that begins the image's.
 *
 * @param image - `host[:port]/repository`.
 */
export function matchesImage(pattern: string, image: string): boolean {
  const wanted = partsOf(pattern.replace(/^https?:\/\//, ''));
  const found = partsOf(image);
  return (
    wanted.port === found.port &&
    wanted.labels.length === found.labels.length &&
    wanted.labels.every((label, index) => glob(label).test(found.labels[index] ?? '')) &&
    found.path.startsWith(wanted.path)
  );
}

function partsOf(text: string): { labels: readonly string[]; port: string; path: string } {
  const [, host = '', port = '', path = ''] = /^([^/]*?)(?::(\d+))?(\/.*)?$/.exec(text) ?? [];
  return { labels: host.toLowerCase().split('.'), port, path };
}

function glob(label: string): RegExp {
  const escaped = label.replace(/[\\^$.+()[\]{}|]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\*+/g, '.*').replaceAll('?', '.')}$`);
}
