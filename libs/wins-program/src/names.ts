/** The name of the Windows service. */
export const SERVICE_NAME = 'rancher-wins';
