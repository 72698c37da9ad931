import { HeldBytes } from './held-bytes.js';
import { CLIENT_PREFACE, FRAME_HEADER_BYTES, FrameType, readFrameHeader } from './http2-frame.js';
import type { FrameHeader } from './http2-frame.js';
import { rewriteHeaderBlock } from './rewrite-header-block.js';

const END_HEADERS = 0x4;
const PADDED = 0x8;
const PRIORITY = 0x20;
const PRIORITY_BYTES = 5;

/** The most that is held back: one header block, with the headers of the frames that carry it. */
const MAX_HELD_BYTES = 64 * 1024;

/** Rewrites the client's half of one HTTP/2 connection. */
export interface AuthorityRewriter {
  /** Takes the next octets and gives those that may go on, in order. Together they are as many as came in. */
  push(chunk: Buffer): Buffer[];
  /** The input has ended: gives what was held back. */
  end(): Buffer[];
  /** True once everything passes as it comes, for ever. */
  readonly passing: boolean;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

class FrameRewriter implements AuthorityRewriter {
  passing = false;

  private part: 'preface' | 'header' | 'payload' = 'preface';
  /** Octets that the part still lacks. */
  private left = CLIENT_PREFACE.length;
  private readonly headerBytes = Buffer.alloc(FRAME_HEADER_BYTES);
  private frame: FrameHeader = { length: 0, type: 0, flags: 0, streamId: 0 };

  /** From the header of a HEADERS frame to the end of its block, octets are held, not passed on. */
  private collecting = false;
  private readonly held = new HeldBytes();
  private fragments: Span[] = [];
  private rewroteBefore = false;

  push(chunk: Buffer): Buffer[] {
    const out: Buffer[] = [];
    let position = 0;
    // Octets that merely pass leave as one view of the chunk, not part by part.
    let passFrom = 0;
    while (position < chunk.length && !this.passing) {
      const wasCollecting = this.collecting;
      const piece = chunk.subarray(position, position + this.left);
      position += piece.length;
      if (wasCollecting) this.held.append(piece);
      this.take(piece);
      if (wasCollecting) {
        passFrom = position;
        if (!this.collecting) out.push(this.held.take());
      } else if (this.collecting) {
        out.push(chunk.subarray(passFrom, position));
        passFrom = position;
      }
    }
    if (!this.collecting && passFrom < chunk.length) out.push(chunk.subarray(passFrom));
    return out;
  }

  end(): Buffer[] {
    this.pass();
    return this.held.length > 0 ? [this.held.take()] : [];
  }

  private take(piece: Buffer): void {
    if (this.part === 'header') piece.copy(this.headerBytes, FRAME_HEADER_BYTES - this.left);
    this.left -= piece.length;
    if (this.left > 0) return;
    if (this.part === 'header') {
      this.beginFrame(readFrameHeader(this.headerBytes));
      if (this.frame.length > 0) return;
    }
    if (this.part === 'payload' && this.collecting) this.endFragment();
    this.part = 'header';
    this.left = FRAME_HEADER_BYTES;
  }

  private beginFrame(frame: FrameHeader): void {
    const expected = this.collecting
      ? frame.type === FrameType.Continuation && frame.streamId === this.frame.streamId
      : frame.type !== FrameType.Continuation;
    this.frame = frame;
    this.part = 'payload';
    this.left = frame.length;
    if (!this.collecting && frame.type !== FrameType.Headers && expected) return;
    // What breaks the rules, or is too large to hold, is for the HTTP/2 server to refuse.
    if (!expected || this.held.length + frame.length > MAX_HELD_BYTES) this.pass();
    else this.collecting = true;
  }

  private endFragment(): void {
    let start = this.held.length - this.frame.length;
    let end = this.held.length;
    if (this.frame.type === FrameType.Headers) {
      const padded = (this.frame.flags & PADDED) !== 0;
      if (padded) end -= this.held.view(start, start + 1)[0] ?? 0;
      if (padded) start += 1;
      if ((this.frame.flags & PRIORITY) !== 0) start += PRIORITY_BYTES;
    }
    if (start > end) {
      this.pass();
      return;
    }
    this.fragments.push({ start, end });
    if ((this.frame.flags & END_HEADERS) !== 0) this.endBlock();
  }

  private endBlock(): void {
    const spans = this.fragments;
    this.fragments = [];
    this.collecting = false;
    const block = Buffer.concat(spans.map(({ start, end }) => this.held.view(start, end)));
    const verdict = rewriteHeaderBlock(block);
    if (verdict === 'rewritten') {
      let from = 0;
      for (const { start, end } of spans) {
        from += block.copy(this.held.view(start, end), 0, from, from + end - start);
      }
      this.rewroteBefore = true;
    } else if (verdict === 'malformed' || !this.rewroteBefore) {
      // One connection has one authority: a first block without a pipe URL promises that none follows.
      this.pass();
    }
  }

  private pass(): void {
    this.passing = true;
    this.collecting = false;
    this.fragments = [];
  }
}

/**
 * Makes a rewriter for what one client sends, from the first octet of the connection preface on. It replaces a pipe URL in
 * `:authority` (`npipe:////./pipe/rancher_wins`, which HTTP/2 servers refuse) by a stand-in of the same length; any split of
 * the input gives the same output. It holds back at most one header block of 64 KiB. A larger or a malformed one passes
 * unchanged, and so does all that follows.
 */
export function createAuthorityRewriter(): AuthorityRewriter {
  return new FrameRewriter();
}
