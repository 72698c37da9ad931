import { Client, credentials } from '@grpc/grpc-js';
import {
  HealthCheckResponse,
  healthServiceDefinition,
  type HealthStatus,
} from '@wins/wins-api/contract';

export async function healthOf(socket: string, service: string): Promise<HealthStatus> {
  const { path: method, requestSerialize } = healthServiceDefinition.check;
  const client = new Client(`unix:${socket}`, credentials.createInsecure());
  try {
    return await new Promise<HealthStatus>((resolve, reject) => {
      client.makeUnaryRequest(
        method,
        requestSerialize,
        (bytes: Buffer) => HealthCheckResponse.decode(bytes),
        { service },
        (error, answer) => (answer ? resolve(answer.status) : reject(error ?? new Error('none'))),
      );
    });
  } finally {
    client.close();
  }
}
