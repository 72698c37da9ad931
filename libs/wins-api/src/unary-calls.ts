import type { MethodDefinition } from '@grpc/grpc-js';
import { createConfigClient } from './config-client.js';
import type { ConfigClient } from './config-client.js';
import { ApplicationServiceService } from './gen/application.js';
import type { ApplicationInfo } from './gen/application.js';
import { ProcessName } from './gen/process.js';
import type { ProcessExit, ProcessSummary } from './gen/process.js';
import { RunStatsService } from './gen/run-stats.js';
import type { RunStatsResponse } from './gen/run-stats.js';
import { healthCheckDefinition } from './definitions/health-check-definition.js';
import { createHostClient } from './host-client.js';
import type { HostClient, UnaryCaller } from './host-client.js';
import { processServiceDefinition } from './definitions/process-service-definition.js';
import { presentIn } from './present-in.js';
import type { CallOptions, RunName, StopOptions, UnaryClient } from './wins-client.js';

/** The calls with one answer, whoever carries them. */
export abstract class UnaryCalls implements UnaryClient, UnaryCaller {
  readonly host: HostClient = createHostClient(this);
  readonly config: ConfigClient = createConfigClient(this);

  protected constructor(protected readonly address: string) {}

  abstract unary<Request, Answer>(
    name: string,
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options: CallOptions,
  ): Promise<Answer>;

  abstract close(): Promise<void>;

  call<Request, Answer>(
    method: MethodDefinition<Request, Answer>,
    request: Request,
    options: CallOptions = {},
  ): Promise<Answer> {
    return this.unary(methodName(method), method, request, options);
  }

  async info(options: CallOptions = {}): Promise<ApplicationInfo> {
    const { Info } = await this.unary('Info', ApplicationServiceService.info, {}, options);
    return this.present('Info', Info);
  }

  isServing(options: CallOptions = {}): Promise<boolean> {
    return this.unary('Check', healthCheckDefinition, {}, options);
  }

  async listProcesses(options: CallOptions = {}): Promise<ProcessSummary[]> {
    return (await this.unary('List', processServiceDefinition.list, {}, options)).Data;
  }

  async stopProcess(name: RunName, options: StopOptions = {}): Promise<ProcessExit> {
    const request = { Data: ProcessName.fromPartial(name), Force: options.force ?? false };
    const { Data } = await this.unary('Stop', processServiceDefinition.stop, request, options);
    return this.present('Stop', Data);
  }

  measureRuns(name = '', options: CallOptions = {}): Promise<RunStatsResponse> {
    return this.unary('Stats', RunStatsService.stats, { Name: name }, options);
  }

  present<T>(method: string, value: T | undefined): T {
    return presentIn({ method, address: this.address }, value);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** The last part of its path. */
export function methodName({ path }: { readonly path: string }): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
