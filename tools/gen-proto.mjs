// node tools/gen-proto.mjs [--check]
// Generates libs/wins-api/src/gen from libs/wins-api/proto: types and fields of messages, services, and descriptors for gRPC reflection. With --check
// it writes to another folder, and fails when the committed files differ. In TypeScript all fields have camelCase names; reflection shows those of
// the proto files, which for the services of the Go releases are Go's. The wire has numbers in place of names. `src/wire/message-fns.ts` writes and reads
// messages by the tables of their fields.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createFileRegistry, fromBinary, ScalarType } from '@bufbuild/protobuf';
import { FeatureSet_FieldPresence, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

const root = path.resolve(import.meta.dirname, '..');
const require = createRequire(import.meta.url);
const project = path.join(root, 'libs/wins-api');
const checking = process.argv[2] === '--check';

const committed = path.join(project, 'src', 'gen');
const out = checking ? mkdtempSync(path.join(tmpdir(), 'wins-proto-')) : committed;
const DESCRIPTORS = 'descriptors.ts';
/** A method of a service. Only its path, its messages and its streams differ from those of other methods. */
const METHOD =
  /\{\n {4}path: (".*") as const,\n {4}requestStream: (\w+) as const,\n {4}responseStream: (\w+) as const,\n {4}requestSerialize: \(value: (\w+)\)[^]*?responseSerialize: \(value: (\w+)\)[^]*?\n {2}\},/g;
const FORMS = { list: 'repeated', map: 'map', optional: 'optional' };
const { EXPLICIT } = FeatureSet_FieldPresence;
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
  'outputEncodeMethods=false',
  'removeEnumPrefix=true',
  'snakeToCamel=false',
  'useReadonlyTypes=true',
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
const fields = path.join(camelCaseDir, 'fields.bin');
runProtoc(camelCaseDir, [`--descriptor_set_out=${fields}`]);
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, readFileSync(fields)));
for (const file of registry.files) addTables(path.join(out, `${file.name}.ts`), file);
rmSync(camelCaseDir, { recursive: true });
runProtoc(protoDir, [
  `--descriptor_set_out=${path.join(out, DESCRIPTORS)}.bin`,
  '--include_imports',
]);

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

/** Adds the tables of fields to the types of messages, and shortens the methods. */
function addTables(file, { messages }) {
  const tables = messages.flatMap((one) => [one, ...one.nestedMessages]).map(tableOf);
  const text = readFileSync(file, 'utf8')
    .replace(METHOD, 'methodOf($1, $4, $5, $2, $3),')
    // The tables use messages of other files.
    .replace(/^import type (?=.* from "\.\/)/gm, 'import ');
  const used = ['messageFns', 'type MessageFns'];
  if (text.includes('methodOf(')) used.push('methodOf');
  const [head, body] = text.split('/* eslint-disable */\n');
  const [types, ...services] = body.split(/^(?=export type \w+Service = )/m);
  const use = `/* eslint-disable */\nimport { ${used.join(', ')} } from "../wire/message-fns.js";\n`;
  const parts = [types.trimEnd(), ...tables, ...services.map((service) => service.trimEnd())];
  writeFileSync(file, `${head}${use}${parts.join('\n\n')}\n`);
}

function tableOf(message) {
  const name = nameOf(message);
  const rows = message.members.map((member) => {
    if (member.kind === 'field') return `  ${rowOf(member)},\n`;
    const inner = member.fields.map((field) => `    ${rowOf(field)},\n`);
    return `  ${member.name}: {\n${inner.join('')}  },\n`;
  });
  const table = rows.length === 0 ? '{}' : `{\n${rows.join('')}}`;
  return `/** Writes and reads {@link ${name}} in the wire format. */
export const ${name}: MessageFns<${name}> = messageFns(${table});`;
}

function rowOf({ name, number, fieldKind, message, scalar, mapKey, presence, oneof }) {
  const isPacked = fieldKind === 'list' && message === undefined && scalar !== ScalarType.STRING;
  const hasOtherKeys = fieldKind === 'map' && mapKey !== ScalarType.STRING;
  if (isPacked || hasOtherKeys)
    throw new Error(`${name}: message-fns.ts cannot write a ${fieldKind} of this type`);
  const type = message === undefined ? `"${scalarName(scalar)}"` : `() => ${nameOf(message)}`;
  const isValue = fieldKind === 'scalar' || fieldKind === 'enum';
  const isOptional = isValue && presence === EXPLICIT && oneof === undefined;
  const form = FORMS[isOptional ? 'optional' : fieldKind];
  return `${name}: [${number}, ${type}${form === undefined ? '' : `, "${form}"`}]`;
}

/** The values of an enum are written as numbers. */
function scalarName(scalar) {
  return scalar === undefined ? 'int32' : ScalarType[scalar].toLowerCase();
}

/** `HealthCheckResponse_ServingStatus` for a message within another. */
function nameOf({ typeName, file }) {
  return typeName.slice(file.proto.package.length + 1).replaceAll('.', '_');
}
