import type { Server } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { FILE_DESCRIPTOR_SET } from '@wins/wins-api';

/** Lets generic clients discover the services of the daemon and call them. */
export function addReflection(server: Server): void {
  const descriptors = Buffer.from(FILE_DESCRIPTOR_SET, 'base64');
  new ReflectionService(loadFileDescriptorSetFromBuffer(descriptors)).addToServer(server);
}
