/** `YYYYMMDD-HHMMSS` in the zone of the node. */
export function datecode(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(two).join('');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join('');
  return `${day}-${time}`;
}
