import { PLAN } from './plan-format.js';
import { parsePlan } from './parse-plan.js';

const roundTrip = (text: string) => PLAN.json(parsePlan(Buffer.from(text)).plan) ?? '';

describe('a plan as JSON', () => {
  it.each(['{}', 'null', '{"files":[],"probes":{}}'])('writes %s as an empty plan', (text) => {
    expect(roundTrip(text)).toBe('{}');
  });

  it('writes members in the order of the original, and none that is empty', () => {
    expect(
      roundTrip(
        '{"periodicInstructions":[{"name":"p","command":"/bin/sh","args":["-c","echo p >&2 <x"],"saveStderrOutput":true,"periodSeconds":15},{}],' +
          '"probes":{"w":{"timeoutSeconds":1,"httpGet":{"insecure":true,"url":"http://127.0.0.1/"}},"none":{}},' +
          '"instructions":[{"saveOutput":true,"args":["\u2028"],"env":["A=b"],"name":"i","image":"x"}],' +
          '"files":[{"permissions":"0750","path":"/x","gid":2,"uid":1,"directory":true,"content":"","action":"delete"}]}',
      ),
    ).toBe(
      '{"files":[{"directory":true,"uid":1,"gid":2,"path":"/x","permissions":"0750","action":"delete"}],' +
        '"instructions":[{"name":"i","image":"x","env":["A=b"],"args":["\\u2028"],"saveOutput":true}],' +
        '"probes":{"none":{"httpGet":{}},"w":{"timeoutSeconds":1,"httpGet":{"url":"http://127.0.0.1/","insecure":true}}},' +
        '"periodicInstructions":[{"name":"p","args":["-c","echo p \\u003e\\u00262 \\u003cx"],"command":"/bin/sh","periodSeconds":15,"saveStderrOutput":true},{}]}',
    );
  });

  it('sorts the names of probes by their bytes', () => {
    const names = roundTrip('{"probes":{"b":{},"10":{},"9":{},"a":{}}}').match(/"(10|9|a|b)"/g);
    expect(names).toEqual(['"10"', '"9"', '"a"', '"b"']);
  });
});
