export interface PemBlock {
  /** Such as `CERTIFICATE`. */
  readonly label: string;
  /** Undefined for invalid base64 or a missing end line. */
  readonly bytes: Buffer | undefined;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Reads the blocks of a PEM text (RFC 7468) in linear time, and skips other text. An incomplete block has no bytes. */
export function readPemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; base64: string } | undefined;
  const cutOff = (): void => {
    if (open !== undefined) blocks.push({ label: open.label, bytes: undefined });
    open = undefined;
  };
  // Splits at the markers, which the result includes.
  for (const piece of text.split(/(-----(?:BEGIN|END) [A-Z0-9 #]{1,64}-----)/)) {
    const [, kind, label = ''] = /^-----(BEGIN|END) (.*)-----$/.exec(piece) ?? [];
    if (kind === undefined) {
      if (open !== undefined) open.base64 += piece.replace(/\s+/g, '');
    } else if (kind === 'BEGIN') {
      cutOff();
      open = { label, base64: '' };
    } else if (open?.label === label) {
      const { base64 } = open;
      const isWhole = BASE64.test(base64) && base64.length % 4 === 0;
      blocks.push({ label, bytes: isWhole ? Buffer.from(base64, 'base64') : undefined });
      open = undefined;
    } else cutOff();
  }
  cutOff();
  return blocks;
}
