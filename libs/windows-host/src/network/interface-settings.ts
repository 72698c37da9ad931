import { formatNetwork, type IpNetwork } from '@wins/base';
import { checkStatus } from '../win32/calls/call.js';
import { interfaceChanges } from '../win32/ip-helper.js';
import { MIB_IPINTERFACE_ROW, MIB_UNICASTIPADDRESS_ROW } from '../win32/structures.js';
import { socketAddress } from './routes.js';

const AF_INET = 2;
/** IpDadStatePreferred: the address is usable at once, because nobody else can have an address of our own network. */
const PREFERRED = 4;
const ERROR_FILE_NOT_FOUND = 2;
const ERROR_NOT_FOUND = 1168;
const ERROR_OBJECT_ALREADY_EXISTS = 5010;

/**
 * The address lasts until the system or the interface restarts.
 *
 * @returns False when it already exists.
 * @throws WindowsError
 */
export function addAddress(interfaceIndex: number, address: IpNetwork): boolean {
  const row = addressRow(interfaceIndex, address, interfaceChanges.InitializeUnicastIpAddressEntry);
  const status = interfaceChanges.CreateUnicastIpAddressEntry(row);
  const tried = `cannot add the address ${formatNetwork(address)}`;
  checkStatus(tried, 'CreateUnicastIpAddressEntry', status, ERROR_OBJECT_ALREADY_EXISTS);
  return status === 0;
}

/** Ignores a missing address. @throws WindowsError */
export function removeAddress(interfaceIndex: number, address: IpNetwork): void {
  const row = addressRow(interfaceIndex, address, interfaceChanges.InitializeUnicastIpAddressEntry);
  const status = interfaceChanges.DeleteUnicastIpAddressEntry(row);
  const tried = `cannot remove the address ${formatNetwork(address)}`;
  checkStatus(tried, 'DeleteUnicastIpAddressEntry', status, ERROR_NOT_FOUND);
}

/** Undefined when there is no such interface. @throws WindowsError */
export function isForwarding(interfaceIndex: number): boolean | undefined {
  const row = interfaceRow(interfaceIndex);
  return row && MIB_IPINTERFACE_ROW.read(row).ForwardingEnabled !== 0;
}

/** Changes no other setting of the interface. @throws WindowsError */
export function setForwarding(interfaceIndex: number, isOn: boolean): void {
  const tried = `cannot turn forwarding ${isOn ? 'on' : 'off'}`;
  const row = interfaceRow(interfaceIndex);
  if (row === undefined) {
    checkStatus(tried, 'GetIpInterfaceEntry', ERROR_NOT_FOUND);
    return;
  }
  const status = interfaceChanges.SetIpInterfaceEntry(forwardingRow(row, isOn));
  checkStatus(tried, 'SetIpInterfaceEntry', status);
}

/** @param initialize - Fills a row with the defaults of the system. */
export function addressRow(
  InterfaceIndex: number,
  { bytes, prefix: OnLinkPrefixLength }: IpNetwork,
  initialize: (row: Buffer) => void,
): Buffer {
  const row = MIB_UNICASTIPADDRESS_ROW.create({});
  initialize(row);
  const Address = socketAddress(bytes);
  MIB_UNICASTIPADDRESS_ROW.write(row, {
    InterfaceIndex,
    Address,
    OnLinkPrefixLength,
    DadState: PREFERRED,
  });
  return row;
}

/** Zeroes the site prefix length, because the system rejects the value that it reported for IPv4. */
export function forwardingRow(row: Buffer, isOn: boolean): Buffer {
  MIB_IPINTERFACE_ROW.write(row, { ForwardingEnabled: Number(isOn), SitePrefixLength: 0 });
  return row;
}

function interfaceRow(InterfaceIndex: number): Buffer | undefined {
  const row = MIB_IPINTERFACE_ROW.create({ Family: AF_INET, InterfaceIndex });
  const status = interfaceChanges.GetIpInterfaceEntry(row);
  const tried = 'cannot read whether an interface forwards';
  checkStatus(tried, 'GetIpInterfaceEntry', status, ERROR_NOT_FOUND, ERROR_FILE_NOT_FOUND);
  return status === 0 ? row : undefined;
}
