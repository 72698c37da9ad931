import { WindowsError, windowsHostSystem } from '@wins/windows-host';

try {
  const host = windowsHostSystem();
  const { interfaceIndex, gatewayAddress } = await host.adapter(); // the adapter with the default route
  console.log(interfaceIndex, gatewayAddress);
} catch (error) {
  if (!(error instanceof WindowsError)) throw error;
  console.log(error.code); // on other systems than Windows
}
