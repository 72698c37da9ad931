import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import type { MethodDefinition, UntypedHandleCall } from '@grpc/grpc-js';
import { FILE_DESCRIPTOR_SET } from '@wins/wins-api/contract';
import { EventEmitter } from 'node:events';

type Definition = MethodDefinition<unknown, unknown>;
/** Answers one encoded request. */
export type Answerer = (request: Buffer) => Buffer;

/** Services that are in the descriptors but served on another pipe. */
const ELSEWHERE: ReadonlySet<string> = new Set(['wins.DebugService']);

/** Returns an answerer for each path of the reflection service. */
export function answerersOfReflection(): ReadonlyMap<string, Answerer> {
  const descriptors = loadFileDescriptorSetFromBuffer(Buffer.from(FILE_DESCRIPTOR_SET, 'base64'));
  const services = Object.entries(descriptors).flatMap(([name, entry]) =>
    'format' in entry || ELSEWHERE.has(name) ? [] : [name],
  );
  const answerers = new Map<string, Answerer>();
  new ReflectionService(descriptors, { services }).addToServer({
    addService: (service, implementation) => {
      const definitions = Object.entries(service as Readonly<Record<string, Definition>>);
      for (const [name, definition] of definitions) {
        const handler = implementation[name];
        if (handler !== undefined) answerers.set(definition.path, answererOf(definition, handler));
      }
    },
  });
  return answerers;
}

/** Returns a function that answers one request. The library's handlers write their answers synchronously. */
function answererOf(definition: Definition, handler: UntypedHandleCall): Answerer {
  let answer: unknown;
  const stream = Object.assign(new EventEmitter(), {
    write: (message: unknown) => (answer = message),
  });
  (handler as (call: unknown) => void)(stream);
  return (request) => {
    answer = undefined;
    stream.emit('data', definition.requestDeserialize(request));
    return definition.responseSerialize(answer);
  };
}
