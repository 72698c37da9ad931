import { goJson, goMap, goStruct } from './go-json.js';
import { DEFAULTS } from './plan-schema.js';
import type { Command, Plan, PlanFile, Probe } from './plan.js';

type Members = [string, string | undefined][];

/**
 * A plan as the original writes it into its history: the order of Go's structs, nothing that is empty. A number that is the default
 * is left out too, also where the plan gave it.
 */
export function goPlanJson(plan: Plan): string {
  return goStruct([
    ['files', list(plan.files, fileJson)],
    [
      'instructions',
      list(plan.instructions, (one) =>
        goStruct([...commandMembers(one), ['saveOutput', flag(one.saveOutput)]]),
      ),
    ],
    ['probes', Object.keys(plan.probes).length > 0 ? goMap(plan.probes, probeJson) : undefined],
    [
      'periodicInstructions',
      list(plan.periodicInstructions, (one) =>
        goStruct([
          ...commandMembers(one),
          ['periodSeconds', number(one.periodSeconds, DEFAULTS.periodSeconds)],
          ['saveStderrOutput', flag(one.saveStderrOutput)],
        ]),
      ),
    ],
  ]);
}

function fileJson(file: PlanFile): string {
  return goStruct([
    ['content', text(file.content)],
    ['directory', flag(file.directory)],
    ['uid', number(file.uid)],
    ['gid', number(file.gid)],
    ['path', text(file.path)],
    ['permissions', text(file.permissions)],
    ['action', text(file.action)],
  ]);
}

function commandMembers(command: Command): Members {
  return [
    ['name', text(command.name)],
    ['image', text(command.image)],
    ['env', list(command.env, goJson)],
    ['args', list(command.args, goJson)],
    ['command', text(command.command)],
  ];
}

function probeJson(probe: Probe): string {
  const { httpGet } = probe;
  return goStruct([
    ['name', text(probe.name)],
    ['initialDelaySeconds', number(probe.initialDelaySeconds)],
    ['timeoutSeconds', number(probe.timeoutSeconds)],
    ['successThreshold', number(probe.successThreshold, DEFAULTS.successThreshold)],
    ['failureThreshold', number(probe.failureThreshold, DEFAULTS.failureThreshold)],
    // A struct is never empty to Go.
    [
      'httpGet',
      goStruct([
        ['url', text(httpGet?.url)],
        ['insecure', flag(httpGet?.insecure)],
        ['clientCert', text(httpGet?.clientCert)],
        ['clientKey', text(httpGet?.clientKey)],
        ['caCert', text(httpGet?.caCert)],
      ]),
    ],
  ]);
}

function list<T>(values: readonly T[], jsonOf: (value: T) => string): string | undefined {
  return values.length > 0 ? `[${values.map(jsonOf).join(',')}]` : undefined;
}

function text(value: string | undefined): string | undefined {
  return value ? goJson(value) : undefined;
}

function flag(value: boolean | undefined): string | undefined {
  return value ? 'true' : undefined;
}

function number(value: number, leftOut = 0): string | undefined {
  return value === leftOut ? undefined : String(value);
}
