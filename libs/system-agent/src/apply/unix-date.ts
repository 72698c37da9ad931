const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');
const FORM = /^[A-Z][a-z]{2} ([A-Z][a-z]{2}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\S{1,8}) (\d{4})$/;

/** Go's UnixDate, such as `Sun Nov  2 00:31:01 UTC 2026`. In UTC, because Go misreads other time zones. */
export function unixDate(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = String(date.getUTCDate()).padStart(2);
  const time = [date.getUTCHours(), date.getUTCMinutes(), date.getUTCSeconds()].map(two).join(':');
  const [weekday = '', month = ''] = [DAYS[date.getUTCDay()], MONTHS[date.getUTCMonth()]];
  return `${weekday} ${month} ${day} ${time} UTC ${date.getUTCFullYear()}`;
}

/** Parses Go's UnixDate; returns undefined if the text has another form. An unknown zone means the node's zone. */
export function parseUnixDate(text: string): Date | undefined {
  const [, month = '', ...rest] = FORM.exec(text) ?? [];
  const [day = '', hour = '', minute = '', second = '', zone = '', year = ''] = rest;
  const fields = [Number(year), MONTHS.indexOf(month), Number(day)] as const;
  const time = [Number(hour), Number(minute), Number(second)] as const;
  if (fields[1] < 0) return undefined;
  const utc = new Date(Date.UTC(...fields, ...time));
  // Date rolls an invalid day or hour over, so compare.
  if (utc.getUTCDate() !== fields[2] || utc.getUTCHours() !== time[0]) return undefined;
  const offsetMs = offsetOf(zone);
  return offsetMs === undefined ? new Date(...fields, ...time) : new Date(utc.getTime() - offsetMs);
}

function offsetOf(zone: string): number | undefined {
  if (/^(?:UTC|GMT|UCT|Z)$/.test(zone)) return 0;
  const [, sign, hours = '', minutes = '0'] = /^([+-])(\d\d)(\d\d)?$/.exec(zone) ?? [];
  if (sign === undefined) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}

/** `YYYYMMDD-HHMMSS` in the zone of the node. */
export function datecode(date: Date): string {
  const two = (part: number): string => String(part).padStart(2, '0');
  const day = [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(two).join('');
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join('');
  return `${day}-${time}`;
}
