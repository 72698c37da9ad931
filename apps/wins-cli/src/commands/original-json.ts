import type {
  ApplicationInfo,
  HnsNetwork,
  HnsSubnet,
  HostVersion,
  NetworkAdapter,
} from '@wins/wins-api';

/** Field names of the Go client, in the order of the field numbers, which is the order of its output. */
export type OriginalNames<Value> = Readonly<Record<keyof Value, string>>;

export const BUILD: OriginalNames<ApplicationInfo> = {
  checksum: 'Checksum',
  version: 'Version',
  commit: 'Commit',
};

export const HOST_VERSION: OriginalNames<HostVersion> = {
  currentMajorVersionNumber: 'CurrentMajorVersionNumber',
  currentMinorVersionNumber: 'CurrentMinorVersionNumber',
  currentBuildNumber: 'CurrentBuildNumber',
  ubr: 'UBR',
  releaseId: 'ReleaseId',
  buildLabEx: 'BuildLabEx',
  currentBuild: 'CurrentBuild',
};

export const ADAPTER: OriginalNames<NetworkAdapter> = {
  interfaceIndex: 'InterfaceIndex',
  gatewayAddress: 'GatewayAddress',
  subnetCidr: 'SubnetCIDR',
  hostName: 'HostName',
  addressCidr: 'AddressCIDR',
};

export const HNS_NETWORK: OriginalNames<HnsNetwork> = {
  id: 'ID',
  type: 'Type',
  subnets: 'Subnets',
  managementIp: 'ManagementIP',
};

const SUBNET: OriginalNames<HnsSubnet> = {
  addressCidr: 'AddressCIDR',
  gatewayAddress: 'GatewayAddress',
};

/** Returns the JSON of the Go client, which scripts of its commands parse; all others print camelCase. Empty fields are omitted. */
export function originalJson<Value extends object>(
  names: OriginalNames<Value>,
  value: Value,
): object {
  const fields = Object.entries<string>(names)
    .map(([key, name]) => [name, value[key as keyof Value]] as const)
    .filter(([, field]) => (field as string | readonly object[]).length > 0)
    .map(([name, field]) => [
      name,
      Array.isArray(field) ? field.map((subnet) => originalJson(SUBNET, subnet)) : field,
    ]);
  return Object.fromEntries(fields) as object;
}
