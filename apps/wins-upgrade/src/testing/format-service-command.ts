import type { ServiceCommand } from '@wins/service-upgrade';

/** Formats a command line as Windows stores it. */
export function formatServiceCommand({ imagePath, args }: ServiceCommand): string {
  return [`"${imagePath}"`, ...args.map(quoteWord)].join(' ');
}

function quoteWord(word: string): string {
  if (word !== '' && !/[\s"]/.test(word)) return word;
  return `"${word.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\+)$/, '$1$1')}"`;
}
