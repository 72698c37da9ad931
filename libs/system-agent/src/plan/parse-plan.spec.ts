import { encodeText } from '@wins/trusted-files';
import { AgentError } from '../agent-error.js';
import { parsePlan } from './parse-plan.js';

const parse = (text: string) => parsePlan(Buffer.from(text));

describe('parsePlan', () => {
  it('reads every key and fills in what is left out', () => {
    const { plan } = parse(
      JSON.stringify({
        files: [{ path: '/a', content: 'YQ==', permissions: '0644', uid: -1, action: 'delete' }],
        instructions: [
          { name: 'i', image: 'x', env: ['A=b'], args: ['-c'], command: 'sh', saveOutput: true },
        ],
        periodicInstructions: [{ name: 'p', periodSeconds: 15, saveStderrOutput: true }, {}],
        probes: {
          w: { httpGet: { url: 'http://x/', caCert: '/ca' }, timeoutSeconds: 2 },
          none: {},
        },
      }),
    );
    expect(plan).toEqual({
      files: [
        {
          path: '/a',
          content: 'YQ==',
          permissions: '0644',
          directory: false,
          uid: -1,
          gid: 0,
          action: 'delete',
        },
      ],
      instructions: [
        { name: 'i', image: 'x', env: ['A=b'], args: ['-c'], command: 'sh', saveOutput: true },
      ],
      periodicInstructions: [
        { name: 'p', env: [], args: [], periodSeconds: 15, saveStderrOutput: true },
        { env: [], args: [], periodSeconds: 600, saveStderrOutput: false },
      ],
      probes: {
        w: {
          initialDelaySeconds: 0,
          timeoutSeconds: 2,
          successThreshold: 1,
          failureThreshold: 3,
          httpGet: { url: 'http://x/', insecure: false, caCert: '/ca' },
        },
        none: {
          initialDelaySeconds: 0,
          timeoutSeconds: 0,
          successThreshold: 1,
          failureThreshold: 3,
        },
      },
    });
  });

  it.each(['null', '{}', ' {} \n', '{"files":null,"probes":null}'])(
    'takes %j as an empty plan',
    (text) => {
      expect(parse(text).plan).toEqual({
        files: [],
        instructions: [],
        periodicInstructions: [],
        probes: {},
      });
    },
  );

  it('takes keys in any case, and the last of several', () => {
    const { plan } = parse(
      '{"Instructions":[{"NAME":"a","name":"b","SaveOutput":true}],"FILES":[{"path":"/x"}]}',
    );
    expect(plan.instructions).toEqual([{ name: 'b', env: [], args: [], saveOutput: true }]);
    expect(plan.files[0]?.path).toBe('/x');
  });

  it('tells the paths of keys that it does not know', () => {
    const text =
      '{"nope":1,"instructions":[{"unknownKey":{"a":1}}],"probes":{"w":{"httpGet":{"port":1}}}}';
    expect(parse(text).unknownKeys).toEqual([
      'nope',
      'instructions[0].unknownKey',
      'probes.w.httpGet.port',
    ]);
  });

  it('knows the keys by which the planner of Rancher marks files', () => {
    const text = '{"files":[{"path":"/a","dynamic":true,"minor":true,"Dynamic":false}]}';
    const { plan, unknownKeys } = parse(text);
    expect(unknownKeys).toEqual([]);
    expect(plan.files).toEqual([{ path: '/a', directory: false, uid: 0, gid: 0 }]);
  });

  it('takes null for an element as Go does', () => {
    const { plan } = parse(
      '{"files":[null],"instructions":[{"args":[null,"x"]}],"probes":{"w":null}}',
    );
    expect(plan.files).toEqual([{ path: '', directory: false, uid: 0, gid: 0 }]);
    expect(plan.instructions[0]?.args).toEqual(['', 'x']);
    expect(plan.probes['w']?.failureThreshold).toBe(3);
  });

  it('takes numbers of less than 1 for none, where they would never let the agent rest', () => {
    const { plan } = parse(
      '{"periodicInstructions":[{"periodSeconds":-1}],"probes":{"w":{"successThreshold":-1,"failureThreshold":0}}}',
    );
    expect(plan.periodicInstructions[0]?.periodSeconds).toBe(600);
    expect(plan.probes['w']).toMatchObject({ successThreshold: 1, failureThreshold: 3 });
  });

  it('keeps a probe that is called __proto__', () => {
    expect(Object.keys(parse('{"probes":{"__proto__":{"timeoutSeconds":1}}}').plan.probes)).toEqual(
      ['__proto__'],
    );
  });

  it.each([
    ['[]', 'a list at its top; wanted an object'],
    ['7', 'an integer at its top; wanted an object'],
    ['{"files":{}}', 'an object at files; wanted a list'],
    ['{"instructions":[{"args":"secret"}]}', 'text at instructions[0].args; wanted a list'],
    [
      '{"instructions":[{"saveOutput":"secret"}]}',
      'text at instructions[0].saveOutput; wanted true or false',
    ],
    ['{"files":[{"uid":1.5}]}', 'a number that is no integer at files[0].uid; wanted an integer'],
    ['{"probes":{"w":{"httpGet":{"url":1}}}}', 'an integer at probes.w.httpGet.url; wanted text'],
    ['{"probes":[]}', 'a list at probes; wanted an object'],
    ['{"probes":{"w":[]}}', 'a list at probes.w; wanted an object'],
    ['', 'text that is not JSON'],
    ['not a secret json', 'text that is not JSON'],
    ['{"instructions":[]} trailing secret', 'text that is not JSON at position 20'],
  ])('refuses %j and says where without a value of it', (text, found) => {
    const refusal = refusalOf(() => parse(text));
    expect(refusal.code).toBe('invalidPlan');
    expect(refusal.message).toContain(`cannot read the plan: found ${found}`);
    expect(`${refusal.message} ${String(refusal.cause)}`).not.toContain('secret');
  });

  it('refuses more than a Secret holds, and nesting that Go refuses', () => {
    expect(refusalOf(() => parse(`{"x":"${'a'.repeat(1024 * 1024)}"}`)).message).toContain(
      'at most 1048576',
    );
    expect(refusalOf(() => parse('['.repeat(10_001))).message).toContain('deeper than 10000');
    expect(parse(`{"x":"${'['.repeat(20_000)}"}`).unknownKeys).toEqual(['x']);
  });

  it.each(['utf-8', 'utf-16le', 'utf-16be'] as const)(
    'reads what PowerShell writes, with a byte order mark: %s',
    (encoding) => {
      const { plan } = parsePlan(encodeText('\ufeff{"instructions":[{"name":"é"}]}', encoding));
      expect(plan.instructions).toMatchObject([{ name: 'é' }]);
    },
  );

  it('refuses a text that ends within a string in time that grows with its length only', () => {
    const costOf = (quotes: number): number => {
      const before = process.cpuUsage();
      expect(() => parse(`${'[]'.repeat(10_001)}"${'\\"'.repeat(quotes)}`)).toThrow('not JSON');
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    costOf(100);
    expect(costOf(32_000)).toBeLessThan(20 * costOf(100));
  });

  it('gives the SHA-256 of the bytes as they are', () => {
    expect(parse('{}').checksum).toBe(
      '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
    );
  });
});

function refusalOf(action: () => unknown): AgentError {
  try {
    action();
  } catch (error) {
    if (error instanceof AgentError) return error;
    throw error;
  }
  throw new Error('it was not refused');
}
