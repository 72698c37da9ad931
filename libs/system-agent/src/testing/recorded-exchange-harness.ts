import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

export interface RecordedExchange {
  /** For example, `12-put-conflict-409`. */
  readonly name: string;
  /** Absent when the recording has only the answer. */
  readonly request?: { readonly method: string; readonly path: string; readonly isAgent: boolean };
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const FOLDER = path.join(__dirname, 'fixtures/kube-apiserver');

export function recordedExchanges(): readonly RecordedExchange[] {
  return readdirSync(FOLDER).sort().map(read);
}

function read(file: string): RecordedExchange {
  const text = readFileSync(path.join(FOLDER, file), 'utf8').replaceAll('\r\n', '\n');
  const start = text.indexOf('HTTP/2 ');
  const end = text.indexOf('\n\n', start);
  const [statusLine = '', ...headerLines] = text.slice(start, end).split('\n');
  const headers = headerLines.map((line) => line.split(/: (.*)/, 2) as [string, string]);
  const comment = text.slice(0, start);
  const url = /https:\/\/\S+/.exec(comment)?.[0];
  return {
    name: path.basename(file, '.txt'),
    ...(url !== undefined && {
      request: {
        method: /-X ([A-Z]+)/.exec(comment)?.[1] ?? 'GET',
        path: url.replace(/^https:\/\/[^/]+/, ''),
        isAgent: comment.includes('Authorization: Bearer'),
      },
    }),
    status: Number(statusLine.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: text.slice(end + 2).trim(),
  };
}
