/** Status of an answer, and the target of its redirect. */
export interface StatusAnswer {
  readonly status: number;
  readonly location: string | undefined;
}

interface Head extends StatusAnswer {
  /** `untilEnd` means until the connection ends. */
  readonly body: number | 'chunked' | 'untilEnd';
}

const MAX_HEAD_BYTES = 16_384;
/** Beyond this, the answer counts as complete. */
const MAX_BODY_BYTES = 10 * 1024;

const HEAD_END = /\r?\n\r?\n/;
const STATUS_LINE = /^HTTP\/1\.[01] ([1-9]\d\d)(?: |$)/;
const HEADER = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*(.*?)[ \t]*$/;
const CHUNK = /^([\da-f]{1,8})[ \t]*(?:;[^\n]*)?\r\n/i;
const SWITCHING_PROTOCOLS = 101;

/** Parses an HTTP/1 answer, in Latin-1, for its status and `Location`, and checks that its body is complete. */
export class StatusReader {
  #unread = '';
  #head: Head | undefined;
  /** Undecoded. */
  #bodyBytes = 0;
  #skipBytes = 0;

  /** Returns undefined while the answer is incomplete. */
  read(part: string): StatusAnswer | 'malformed' | undefined {
    if (this.#head === undefined) {
      this.#unread += part;
      const head = this.#readHead();
      if (head === 'malformed' || head === undefined) return head;
      this.#head = head;
      this.#bodyBytes = this.#unread.length;
    } else {
      this.#bodyBytes += part.length;
      if (this.#head.body === 'chunked') this.#unread += part;
    }
    const { body } = this.#head;
    if (
      this.#bodyBytes >=
      (typeof body === 'number' ? Math.min(body, MAX_BODY_BYTES) : MAX_BODY_BYTES)
    )
      return this.#head;
    return body === 'chunked' ? this.#readChunks(this.#head) : undefined;
  }

  /** Undefined when the answer is incomplete. */
  end(): StatusAnswer | undefined {
    return this.#head?.body === 'untilEnd' ? this.#head : undefined;
  }

  #readHead(): Head | 'malformed' | undefined {
    for (;;) {
      const end = HEAD_END.exec(this.#unread);
      if ((end?.index ?? this.#unread.length) > MAX_HEAD_BYTES) return 'malformed';
      if (end === null) return undefined;
      const head = headOf(this.#unread.slice(0, end.index));
      this.#unread = this.#unread.slice(end.index + end[0].length);
      // Skips interim answers, such as 103.
      if (head === 'malformed' || head.status >= 200) return head;
      if (head.status === SWITCHING_PROTOCOLS) return 'malformed';
    }
  }

  #readChunks(head: Head): Head | 'malformed' | undefined {
    for (;;) {
      const skipped = Math.min(this.#skipBytes, this.#unread.length);
      this.#skipBytes -= skipped;
      this.#unread = this.#unread.slice(skipped);
      if (this.#skipBytes > 0) return undefined;
      const chunk = CHUNK.exec(this.#unread);
      if (chunk === null) return this.#unread.includes('\n') ? 'malformed' : undefined;
      const sizeBytes = Number.parseInt(chunk[1] ?? '', 16);
      if (sizeBytes > 0) this.#skipBytes = chunk[0].length + sizeBytes + '\r\n'.length;
      else {
        const trailer = this.#unread.slice(chunk[0].length);
        return trailer.startsWith('\r\n') || trailer.includes('\r\n\r\n') ? head : undefined;
      }
    }
  }
}

function headOf(text: string): Head | 'malformed' {
  const [first = '', ...lines] = text.split(/\r?\n/);
  const status = Number(STATUS_LINE.exec(first)?.[1]);
  if (Number.isNaN(status)) return 'malformed';
  let location: string | undefined;
  let encoding: string | undefined;
  let length: string | undefined;
  for (const line of lines) {
    const [, name, value = ''] = HEADER.exec(line) ?? [];
    if (name === undefined) return 'malformed';
    switch (name.toLowerCase()) {
      case 'location':
        location ??= value;
        break;
      case 'transfer-encoding':
        encoding = value;
        break;
      case 'content-length':
        if (!/^\d+$/.test(value) || (length ?? value) !== value) return 'malformed';
        length = value;
    }
  }
  const body = bodyOf(status, encoding, length);
  return { status, location, body };
}

function bodyOf(status: number, encoding: string | undefined, length: string | undefined) {
  // The body of a redirect is not read.
  if (status === 204 || (status >= 300 && status <= 399)) return 0;
  if (encoding !== undefined)
    return /(?:^|,[ \t]*)chunked$/i.test(encoding) ? 'chunked' : 'untilEnd';
  return length === undefined ? 'untilEnd' : Number(length);
}
