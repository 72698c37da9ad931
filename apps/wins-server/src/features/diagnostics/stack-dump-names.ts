/** The event that makes the service with this process write its stacks: as the original calls it. */
export function stackDumpEvent(pid: number): string {
  return `Global\\stackdump-${pid}`;
}

/** The file, in the folder of the service's logs. */
export function stackDumpFile(pid: number): string {
  return `rancher-wins.${pid}.stacks.log`;
}
