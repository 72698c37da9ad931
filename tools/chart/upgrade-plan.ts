/** The system-upgrade-controller's Plan, from pkg/apis/upgrade.cattle.io/v1 of its release 0.19; `kubernetes-types` lacks it. */
import type {
  EnvFromSource,
  EnvVar,
  LocalObjectReference,
  SecurityContext,
  Toleration,
} from 'kubernetes-types/core/v1';
import type { LabelSelector, ObjectMeta } from 'kubernetes-types/meta/v1';

export interface Plan {
  apiVersion: 'upgrade.cattle.io/v1';
  kind: 'Plan';
  metadata: ObjectMeta;
  spec: {
    concurrency?: number;
    jobActiveDeadlineSecs?: number;
    nodeSelector?: LabelSelector;
    serviceAccountName?: string;
    channel?: string;
    version?: string;
    secrets?: readonly Secret[];
    tolerations?: readonly Toleration[];
    exclusive?: boolean;
    window?: { days?: readonly string[]; startTime?: string; endTime?: string; timeZone?: string };
    prepare?: Container;
    upgrade: Container;
    cordon?: boolean;
    drain?: Drain;
    imagePullSecrets?: readonly LocalObjectReference[];
    postCompleteDelay?: string;
    priorityClassName?: string;
    customNodeLabels?: Readonly<Record<string, string>>;
  };
}

interface Secret {
  name: string;
  path: string;
  ignoreUpdates?: boolean;
  defaultMode?: number;
}

interface Container {
  image: string;
  command?: readonly string[];
  args?: readonly string[];
  envs?: readonly EnvVar[];
  envFrom?: readonly EnvFromSource[];
  volumes?: readonly { name: string; source: string; destination: string }[];
  securityContext?: SecurityContext;
}

interface Drain {
  timeout?: number | string;
  gracePeriod?: number;
  deleteLocalData?: boolean;
  deleteEmptydirData?: boolean;
  ignoreDaemonSets?: boolean;
  force?: boolean;
  disableEviction?: boolean;
  skipWaitForDeleteTimeout?: number;
  podSelector?: LabelSelector;
}
