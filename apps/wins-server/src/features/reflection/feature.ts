import type {
  MethodDefinition,
  ServerDuplexStream,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { FILE_DESCRIPTOR_SET } from '@wins/wins-api/contract';
import { EventEmitter } from 'node:events';
import type { Feature } from '../../kernel/feature.js';
import { toRpcError } from '../../kernel/rpc/rpc-errors.js';

type Exchange = ServerDuplexStream<Buffer, Buffer>;
type Definition = MethodDefinition<unknown, unknown>;
type Answerer = (request: Buffer) => Buffer;

const PATHS = ['v1', 'v1alpha'].map(
  (version) => `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
);
/** Services that are in the descriptors but served on another pipe. */
const ELSEWHERE: ReadonlySet<string> = new Set(['wins.DebugService']);
/** A request contains only the name of a file or symbol. */
const MAX_REQUEST_BYTES = 1024;

/**
 * Creates the handlers of the reflection service. The first request loads the library `@grpc/reflection`, which takes 12 to 14 MiB of memory. The
 * library ignores back-pressure. Each stream therefore reads its next request only after the client has read the previous answer.
 */
export function createReflection(): {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
} {
  let answerers: ReadonlyMap<string, Answerer> | undefined;
  const answer = (path: string, request: Buffer): Buffer => {
    answerers ??= loadAnswerers();
    const answerer = answerers.get(path);
    if (answerer === undefined) throw new Error(`the library does not serve ${path}`);
    return answerer(request);
  };
  const serve = (path: string, call: Exchange): void => {
    call.on('data', (request: Buffer) => {
      call.pause();
      try {
        call.write(answer(path, request), () => call.resume());
      } catch (error) {
        call.emit('error', toRpcError(error));
      }
    });
    call.once('end', () => call.end());
  };
  return {
    definition: Object.fromEntries(PATHS.map((path) => [path, encodedMethod(path)])),
    implementation: Object.fromEntries(
      PATHS.map((path) => [path, ((call: Exchange) => serve(path, call)) as UntypedHandleCall]),
    ),
  };
}

/** Defines a method whose messages gRPC leaves encoded. The reflection library decodes them, and is loaded only when the first message arrives. */
function encodedMethod(path: string): MethodDefinition<Buffer, Buffer> {
  const asItIs = (bytes: Buffer): Buffer => bytes;
  return {
    path,
    requestStream: true,
    responseStream: true,
    requestSerialize: asItIs,
    requestDeserialize: (bytes) => {
      if (bytes.length <= MAX_REQUEST_BYTES) return bytes;
      throw new Error(
        `cannot answer: the request has ${bytes.length} bytes (limit ${MAX_REQUEST_BYTES})`,
      );
    },
    responseSerialize: asItIs,
    responseDeserialize: asItIs,
  };
}

function loadAnswerers(): ReadonlyMap<string, Answerer> {
  /* oxlint-disable typescript/no-require-imports -- loaded by the first call */
  const loader = require('@grpc/proto-loader') as typeof import('@grpc/proto-loader');
  const library = require('@grpc/reflection') as typeof import('@grpc/reflection');
  /* oxlint-enable typescript/no-require-imports */
  const descriptors = loader.loadFileDescriptorSetFromBuffer(
    Buffer.from(FILE_DESCRIPTOR_SET, 'base64'),
  );
  const services = Object.entries(descriptors).flatMap(([name, entry]) =>
    'format' in entry || ELSEWHERE.has(name) ? [] : [name],
  );
  const answerers = new Map<string, Answerer>();
  new library.ReflectionService(descriptors, { services }).addToServer({
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

export const reflection: Feature = {
  name: 'reflection',
  stage: 'serves',
  purpose: 'list the gRPC services',
  readAtStart: ['reflection'],
  settings: ({ config }) =>
    config.reflection ? {} : { reason: 'the config says reflection: false' },
  services: (_view, { config }) => {
    if (!config.start.loaded.config.reflection) return [];
    const { definition, implementation } = createReflection();
    return [{ definition, pipe: 'main', hasHealth: false, implement: () => implementation }];
  },
};
