// Reporter for Node's test runner on Windows: prints a line of JSON for each ended test.
export default async function* report(events) {
  const open = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') open[data.nesting] = data.name;
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    // Skip suites, because their tests are already reported. But report a suite whose own hook failed.
    if (data.details?.type === 'suite' && data.details.error?.failureType !== 'hookFailed')
      continue;
    const title = [...open.slice(0, data.nesting), data.name].join(' › ');
    const failure = data.details?.error;
    const error =
      type === 'test:fail' ? String(failure?.cause?.stack ?? failure?.stack ?? failure) : undefined;
    yield `${JSON.stringify({ title, error, skipped: data.skip !== undefined || data.todo !== undefined })}\n`;
  }
}
