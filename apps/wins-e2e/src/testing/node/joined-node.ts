import assert from 'node:assert/strict';
import { CANARY, NodeWorld, startCluster, type Cluster } from './node-world.js';

/** A node that has joined a cluster. */
export class JoinedNode implements AsyncDisposable {
  readonly world = new NodeWorld();

  private constructor(readonly cluster: Cluster) {}

  static async start(): Promise<JoinedNode> {
    const node = new JoinedNode(await startCluster());
    const { code, reason } = await node.world.say(['join'], node.cluster.variables);
    assert.deepEqual([code, reason], [0, 'the node is in the requested state']);
    return node;
  }

  /** Runs `wins suc`. Its output must not contain the token. */
  readonly ask = async (variables: NodeJS.ProcessEnv = {}, program?: string) => {
    const said = await this.world.say(['suc', '--wait', '10s'], variables, program);
    assert.ok(!`${said.reason}${said.stderr}`.includes(CANARY));
    return said;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
    await this.cluster[Symbol.asyncDispose]();
  }
}
