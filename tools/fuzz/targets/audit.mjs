import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const RECORDS = 24;
/** Large enough that the log has three files. */
const FACT_OCTETS = 6000;

/** A changed log must never verify, unless only its end changed. A damaged log must still be readable and accept new records. */
export async function openAudit({
  AuditLog,
  auditOptions,
  readAuditLog,
  verifyAuditLog,
  FeatureError,
}) {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-fuzz-audit-'));
  chmodSync(folder, 0o700);
  const whole = new AuditLog({ ...auditOptions(folder), maxFileBytes: 65_536 });
  await whole.open();
  for (let count = 0; count < RECORDS; count += 1)
    await whole.append({ kind: 'start', path: `/bin/${count}`, text: 'x'.repeat(FACT_OCTETS) });
  await whole.close();
  const names = readdirSync(folder).sort();
  const original = names.map((name) => readFileSync(path.join(folder, name)));
  return {
    name: 'audit',
    generate: (rng) => ({
      steps: rng.list(4, () =>
        rng.choose(
          [2, () => ['drop', rng.below(RECORDS + 2)]],
          [2, () => ['double', rng.below(RECORDS + 2)]],
          [2, () => ['swap', rng.below(RECORDS + 2), rng.below(RECORDS + 2)]],
          [4, () => ['set', rng.below(RECORDS + 2), rng.below(200), rng.below(256)]],
          [2, () => ['cut', rng.below(RECORDS + 2), rng.below(400)]],
          [1, () => ['insert', rng.below(RECORDS + 2), rng.hex(rng.below(50))]],
          [1, () => ['file', rng.below(names.length)]],
        ),
      ),
      goesOn: rng.chance(0.05),
    }),
    async run({ steps, goesOn }) {
      for (const name of readdirSync(folder)) rmSync(path.join(folder, name));
      const changed = change(original, steps);
      for (const [index, octets] of changed.entries())
        if (octets !== undefined)
          writeFileSync(path.join(folder, names[index]), octets, { mode: 0o600 });
      const { ok, records } = await verifyAuditLog(folder);
      let read = 0;
      for await (const some of readAuditLog(folder)) read += some.length;
      if (ok && !isBeginning(changed)) throw new Error('verified, though it was changed');
      if (ok && read !== records) throw new Error(`${records} records, but ${read} were read`);
      if (goesOn) await goOn(ok);
    },
    close: () => rmSync(folder, { recursive: true }),
  };

  /** Whether the original log begins with all lines of `changed` except the last. */
  function isBeginning(changed) {
    const text = Buffer.concat(changed.filter((octets) => octets !== undefined));
    const lastButOne = text.subarray(0, text.lastIndexOf(10)).lastIndexOf(10) + 1;
    return Buffer.concat(original).subarray(0, lastButOne).equals(text.subarray(0, lastButOne));
  }

  async function goOn(wasWhole) {
    const log = new AuditLog({ ...auditOptions(folder), maxFileBytes: 65_536 });
    await log.open();
    let isWritten = true;
    try {
      await log.append({ kind: 'start', path: '/bin/more' });
    } catch (error) {
      if (!(error instanceof FeatureError)) throw error;
      isWritten = false;
    } finally {
      await log.close();
    }
    const { ok, problems } = await verifyAuditLog(folder);
    if (isWritten && ok !== wasWhole)
      throw new Error(`the next record changed the verdict: ${JSON.stringify(problems)}`);
  }
}

/** Applies steps to the log; line numbers run through all files. */
function change(original, steps) {
  const files = original.map((octets) => octets.toString('latin1').split(/(?<=\n)/));
  const find = (line) => {
    let index = line;
    for (const lines of files) {
      if (index < (lines?.length ?? 0)) return [lines, index];
      index -= lines?.length ?? 0;
    }
    return [[''], 0];
  };
  for (const [verb, line, ...rest] of steps) {
    const [lines, at] = find(line);
    const text = lines[at];
    if (verb === 'drop') lines.splice(at, 1);
    if (verb === 'double') lines.splice(at, 0, text);
    if (verb === 'insert')
      lines.splice(at, 0, Buffer.from(`${rest[0]}0a`, 'hex').toString('latin1'));
    if (verb === 'cut') lines[at] = text.slice(0, rest[0]);
    if (verb === 'set')
      lines[at] = text.slice(0, rest[0]) + String.fromCharCode(rest[1]) + text.slice(rest[0] + 1);
    if (verb === 'swap') {
      const [others, other] = find(rest[0]);
      [lines[at], others[other]] = [others[other], lines[at]];
    }
    if (verb === 'file') files[line] = undefined;
  }
  return files.map((lines) => lines && Buffer.from(lines.join(''), 'latin1'));
}
