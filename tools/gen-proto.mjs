// node tools/gen-proto.mjs [--check]
// Generates libs/wins-api/src/gen from libs/wins-api/proto: messages, services, and descriptors for gRPC reflection. With --check it writes to
// another folder, and fails when the committed files differ. In TypeScript all fields have camelCase names; reflection shows those of the proto
// files, which for the services of the Go releases are Go's. The wire has numbers in place of names.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const project = path.join(root, 'libs/wins-api');
const checking = process.argv[2] === '--check';

const committed = path.join(project, 'src', 'gen');
const out = checking ? mkdtempSync(path.join(tmpdir(), 'wins-proto-')) : committed;
const DESCRIPTORS = 'descriptors.ts';
/** Functions and types that the generator repeats in each file. */
const HELPERS = {
  longToNumber: /\nfunction longToNumber[^]*?\n\}\n/,
  'type MessageFns': /\nexport interface MessageFns[^]*?\n\}\n/,
};
/** Functions of a message, which the generator leaves without a comment. */
const FUNCTIONS = /^export const (\w+): MessageFns</gm;
/** Names of fields and of oneofs, but not of an enum's constants. */
const FIELD = /(?<=^ +oneof )\w+|(?<=\w )\w+(?= = \d+;$)/gm;
const protoDir = path.join(project, 'proto');
const pluginSuffix = process.platform === 'win32' ? '.cmd' : '';
const plugin = path.join(root, 'node_modules', '.bin', `protoc-gen-ts_proto${pluginSuffix}`);
const options = [
  'env=node',
  'outputServices=grpc-js',
  'outputClientImpl=false',
  'esModuleInterop=true',
  'importSuffix=.js',
  'forceLong=number',
  'oneof=unions-value',
  'useOptionals=messages',
  'unrecognizedEnum=true',
  'useExactTypes=false',
  'outputJsonMethods=false',
  'outputTypeRegistry=false',
  'outputPartialMethods=false',
  'removeEnumPrefix=true',
  'snakeToCamel=false',
].join(',');

if (!checking) {
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
}
const protoFiles = readdirSync(protoDir)
  .filter((name) => name.endsWith('.proto'))
  .sort();
const camelCaseDir = mkdtempSync(path.join(tmpdir(), 'wins-proto-names-'));
for (const name of protoFiles) {
  const text = readFileSync(path.join(protoDir, name), 'utf8');
  writeFileSync(
    path.join(camelCaseDir, name),
    text.replace(FIELD, (all) => camelCase(all)),
  );
}
runProtoc(camelCaseDir, [
  `--plugin=protoc-gen-ts_proto=${plugin}`,
  `--ts_proto_out=${out}`,
  `--ts_proto_opt=${options}`,
]);
rmSync(camelCaseDir, { recursive: true });
runProtoc(protoDir, [
  `--descriptor_set_out=${path.join(out, DESCRIPTORS)}.bin`,
  '--include_imports',
]);

shareHelpers();

const descriptorSet = path.join(out, `${DESCRIPTORS}.bin`);
writeFileSync(
  path.join(out, DESCRIPTORS),
  `// A google.protobuf.FileDescriptorSet of all proto files, base64.
export const FILE_DESCRIPTOR_SET =
  '${readFileSync(descriptorSet).toString('base64')}';
`,
);
rmSync(descriptorSet);

if (checking) {
  const read = (directory) =>
    new Map(
      readdirSync(directory)
        .sort()
        .map((name) => [name, readFileSync(path.join(directory, name), 'utf8')]),
    );
  const fresh = read(out);
  const kept = read(committed);
  rmSync(out, { recursive: true, force: true });
  const drifted = [...new Set([...fresh.keys(), ...kept.keys()])].filter(
    (name) => fresh.get(name) !== kept.get(name),
  );
  for (const name of drifted)
    console.error(
      `${path.relative(root, path.join(committed, name))} is outdated; run npm run generate`,
    );
  process.exit(drifted.length === 0 ? 0 : 1);
}

function runProtoc(folder, args) {
  const protoc = [require.resolve('protoc/protoc.cjs'), `--proto_path=${folder}`];
  const result = spawnSync(process.execPath, [...protoc, ...args, ...protoFiles], {
    stdio: 'inherit',
  });
  if (result.status !== 0) process.exit(result.status ?? 1);
}

/** `ChecksumSHA256` becomes `checksumSha256`. */
function camelCase(name) {
  const words = name.replace(/(?<=[A-Z])[A-Z]+(?![a-z])/g, (rest) => rest.toLowerCase());
  return words.charAt(0).toLowerCase() + words.slice(1);
}

/** Moves the helpers into one file. */
function shareHelpers() {
  const shared = {};
  for (const name of readdirSync(out).filter((one) => one.endsWith('.ts'))) {
    const file = path.join(out, name);
    let text = readFileSync(file, 'utf8');
    const used = Object.keys(HELPERS).filter((helper) => HELPERS[helper].test(text));
    for (const helper of used) {
      const [code] = HELPERS[helper].exec(text);
      if ((shared[helper] ??= code) !== code)
        throw new Error(`${name}: its ${helper} differs from that of the other files`);
      text = text.replace(code, '');
    }
    text = text.replace(FUNCTIONS, '/** Writes and reads {@link $1} in the wire format. */\n$&');
    const use = `import { ${used.join(', ')} } from "./message-fns.js";\nimport `;
    writeFileSync(file, text.replace(/^import /m, use));
  }
  const head = `// Made by tools/gen-proto.mjs of what protoc-gen-ts_proto writes. DO NOT EDIT.

/* eslint-disable */
import type { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
`;
  const functions = Object.values(shared)
    .join('')
    .replace('\nfunction', '\nexport function')
    .replace(
      '\nexport interface',
      '\n/** Writes and reads one message in the wire format. @throws Error for invalid bytes. */$&',
    );
  writeFileSync(path.join(out, 'message-fns.ts'), head + functions);
}
