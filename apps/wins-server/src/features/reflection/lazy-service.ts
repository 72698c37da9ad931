import type {
  MethodDefinition,
  Server,
  ServiceDefinition,
  UntypedHandleCall,
  UntypedServiceImplementation,
} from '@grpc/grpc-js';

/** A method as the server must know it before its library is loaded. */
export interface LazyMethod {
  /** `/package.Service/Method`. */
  readonly path: string;
  readonly requestStream: boolean;
  readonly responseStream: boolean;
}

/** What a library adds its services to. */
export type ServiceSink = Pick<Server, 'addService'>;

/** A service as a server takes it. */
export interface LazyService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
}

interface LoadedMethod {
  readonly definition: MethodDefinition<unknown, unknown>;
  readonly handler: UntypedHandleCall;
}

type AnyHandler = (...parameters: readonly unknown[]) => unknown;

/**
 * Serves methods of a library that is loaded by the first call of one of them. Few ask for health,
 * fewer for reflection, and what both need would be a tenth of the idle daemon.
 *
 * @param load - Adds the services of the library to the sink it is given; called once.
 */
export function lazyService(
  methods: readonly LazyMethod[],
  load: (sink: ServiceSink) => void,
): LazyService {
  let loaded: Map<string, LoadedMethod> | undefined;
  const loadedMethod = (path: string): LoadedMethod => {
    loaded ??= collect(load);
    const method = loaded.get(path);
    if (method === undefined) throw new Error(`the library does not serve ${path}`);
    return method;
  };
  const definition: Record<string, MethodDefinition<unknown, unknown>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const method of methods) {
    const { path } = method;
    definition[path] = {
      ...method,
      requestSerialize: (value) => loadedMethod(path).definition.requestSerialize(value),
      requestDeserialize: (bytes) => loadedMethod(path).definition.requestDeserialize(bytes),
      responseSerialize: (value) => loadedMethod(path).definition.responseSerialize(value),
      responseDeserialize: (bytes) => loadedMethod(path).definition.responseDeserialize(bytes),
    };
    const handler: AnyHandler = (...parameters) =>
      (loadedMethod(path).handler as AnyHandler)(...parameters);
    implementation[path] = handler as UntypedHandleCall;
  }
  return { definition, implementation };
}

function collect(load: (sink: ServiceSink) => void): Map<string, LoadedMethod> {
  const methods = new Map<string, LoadedMethod>();
  load({
    addService: (service, implementation) => {
      for (const [name, definition] of Object.entries(service) as [
        string,
        MethodDefinition<unknown, unknown>,
      ][]) {
        const handler = implementation[name] ?? implementation[definition.originalName ?? name];
        if (handler !== undefined) methods.set(definition.path, { definition, handler });
      }
    },
  });
  return methods;
}
