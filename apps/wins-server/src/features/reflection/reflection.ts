import {
  status,
  type MethodDefinition,
  type ServerDuplexStream,
  type UntypedHandleCall,
} from '@grpc/grpc-js';
import { FILE_DESCRIPTOR_SET } from '@wins/wins-api/contract';
import { EventEmitter } from 'node:events';
import { lazyService, type LazyMethod, type LazyService } from './lazy-service.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';

type Exchange = ServerDuplexStream<unknown, unknown>;
type Definition = MethodDefinition<unknown, unknown>;

const METHODS: readonly LazyMethod[] = ['v1', 'v1alpha'].map((version) => ({
  path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
  requestStream: true,
  responseStream: true,
}));

/** Is in the descriptors, and served on another pipe. */
const ELSEWHERE: ReadonlySet<string> = new Set(['wins.DebugService']);
/** Streams at a time, all connections together. A connection has one. */
const MAX_STREAMS = 16;
/** The longest request that makes sense, in octets: the name of a file, or of something in one. */
const MAX_REQUEST_BYTES = 1024;

/**
 * Lets generic clients discover the services of the daemon and call them.
 *
 * The library answers each request at once, even when the client does not read. Here a stream has one answer under way: the next
 * request is read when the client has taken the answer before.
 */
export function createReflection(): LazyService {
  const open = new Set<string>();
  const boundedHandler = (handler: UntypedHandleCall): UntypedHandleCall => {
    const answerTo = answererOf(handler);
    const serve = (call: Exchange): void => {
      const peer = call.getPeer();
      if (open.has(peer) || open.size >= MAX_STREAMS) {
        const details = `cannot open another reflection stream; wanted one per connection, and ${MAX_STREAMS} in all`;
        call.emit('error', rpcError(status.RESOURCE_EXHAUSTED, 'tooManyReflections', details));
        return;
      }
      open.add(peer);
      call.once('cancelled', () => open.delete(peer));
      call.on('data', (request: unknown) => {
        call.pause();
        try {
          call.write(answerTo(request), () => call.resume());
        } catch (error) {
          call.emit('error', toRpcError(error));
        }
      });
      call.once('end', () => call.end());
    };
    return serve as UntypedHandleCall;
  };

  return lazyService(METHODS, (sink) => {
    /* eslint-disable @typescript-eslint/no-require-imports -- loaded by the first call */
    const loader = require('@grpc/proto-loader') as typeof import('@grpc/proto-loader');
    const library = require('@grpc/reflection') as typeof import('@grpc/reflection');
    /* eslint-enable @typescript-eslint/no-require-imports */
    const descriptors = loader.loadFileDescriptorSetFromBuffer(
      Buffer.from(FILE_DESCRIPTOR_SET, 'base64'),
    );
    const services = Object.entries(descriptors).flatMap(([name, entry]) =>
      'format' in entry || ELSEWHERE.has(name) ? [] : [name],
    );
    new library.ReflectionService(descriptors, { services }).addToServer({
      addService: (service, implementation) => {
        const definitions = Object.entries(service as Readonly<Record<string, Definition>>);
        sink.addService(
          Object.fromEntries(definitions.map(([name, each]) => [name, boundedRequest(each)])),
          Object.fromEntries(
            Object.entries(implementation).map(([name, each]) => [name, boundedHandler(each)]),
          ),
        );
      },
    });
  });
}

/** A handler of the library as a function: it writes its answer while it is given the request. */
function answererOf(handler: UntypedHandleCall): (request: unknown) => unknown {
  let answer: unknown;
  const stream = Object.assign(new EventEmitter(), {
    write: (message: unknown) => (answer = message),
  });
  (handler as (call: unknown) => void)(stream);
  return (request) => {
    answer = undefined;
    stream.emit('data', request);
    return answer;
  };
}

function boundedRequest(definition: Definition): Definition {
  const requestDeserialize = (bytes: Buffer): unknown => {
    if (bytes.length <= MAX_REQUEST_BYTES) return definition.requestDeserialize(bytes);
    throw new Error(
      `cannot answer: found a request of ${bytes.length} bytes; wanted ${MAX_REQUEST_BYTES} at most`,
    );
  };
  return { ...definition, requestDeserialize };
}
