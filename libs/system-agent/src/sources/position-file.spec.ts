import { readFileSync } from 'node:fs';
import path from 'node:path';
import { AgentError } from '../agent-error.js';
import {
  fittingOutputs,
  MAX_OUTPUTS_TEXT,
  NO_POSITION,
  parsePosition,
  positionText,
} from './position-file.js';

interface Recording {
  readonly filesAtEnd: readonly { readonly path: string; readonly content?: string }[];
}

const RECORDED = path.join(__dirname, '../testing/replay/recordings/local.json');

describe('a .pos file', () => {
  it('of the original agent is read', () => {
    const { filesAtEnd } = JSON.parse(readFileSync(RECORDED, 'utf8')) as Recording;
    const texts = filesAtEnd.filter((entry) => entry.path.endsWith('.pos'));
    const positions = new Map(
      texts.map((entry) => [entry.path, parsePosition(entry.content ?? '')]),
    );
    expect(positions.get('plans/b.pos')?.outputs).toEqual({ b: Buffer.from('b\n') });
    expect(positions.get('plans/sub/n.pos')).toMatchObject({
      appliedChecksum: '3ad0733e9c9e9387c98b51cb1271ea24310782c13a155c9be1b2323ce66c93dc',
      probes: { w: { healthy: false, successCount: 0, failureCount: 3 } },
      periodic: { np: { stdout: Buffer.from('np\n'), exitCode: 0, failures: 0 } },
    });
  });

  it('that we wrote is read back', () => {
    const position = {
      appliedChecksum: 'ab',
      outputs: { silent: null, a: Buffer.from([0, 255]) },
      periodic: {},
      probes: { w: { healthy: true, successCount: 1, failureCount: 0 } },
    };
    expect(parsePosition(positionText(position))).toEqual(position);
    expect(parsePosition('{}')).toEqual(NO_POSITION);
  });

  it('is read back also when its periodic instructions wrote more than that, of which it has the beginning', () => {
    const long = Buffer.alloc(512 * 1024, 'a');
    const times = { lastSuccessfulRunTime: '', lastFailedRunTime: '', exitCode: 0, failures: 0 };
    const periodic = Object.fromEntries(
      Array.from({ length: 12 }, (_, index) => {
        const name = `p${index}`;
        return [name, { name, stdout: long, stderr: long, ...times }] as const;
      }),
    );
    const read = parsePosition(positionText({ ...NO_POSITION, appliedChecksum: 'ab', periodic }));
    expect(read.appliedChecksum).toBe('ab');
    expect(Object.keys(read.periodic)).toHaveLength(12);
    expect(read.periodic['p0']?.stdout?.toString()).toMatch(/^a+\n\[\d+ bytes are missing here/);
  });

  it('that cannot be read is refused without a word of it', () => {
    for (const text of ['secret', '{"appliedChecksum":["secret"]}', '{"output":"c2VjcmV0"}']) {
      let refusal: unknown;
      try {
        parsePosition(text);
      } catch (error) {
        refusal = error;
      }
      expect(refusal).toBeInstanceOf(AgentError);
      expect(refusal).toMatchObject({ code: 'invalidState' });
      expect(`${String(refusal)} ${String((refusal as AgentError).cause)}`).not.toContain('secret');
    }
  });
});

describe('outputs that are too large to be read back', () => {
  const half = Buffer.alloc(MAX_OUTPUTS_TEXT / 2, 'a');

  it('are those of the plan alone, or none', () => {
    const outputs = { old: half, now: half };
    expect(fittingOutputs({ now: half }, [])).toEqual({ now: half });
    expect(fittingOutputs(outputs, ['now'])).toEqual({ now: half });
    expect(fittingOutputs(outputs, ['now', 'old'])).toEqual({});
  });
});
