// The methods of all protocol versions by name: those that are offered, and the error that the specification prescribes
// for the others.

export type A2aVersion = '0.1' | '0.3' | '1.0';
export type TaskAction = 'send' | 'stream' | 'get' | 'list' | 'cancel' | 'subscribe';

export interface A2aMethod {
  version: A2aVersion;
  action: TaskAction;
}

export const A2A_ERRORS = {
  taskNotFound: -32_001,
  taskNotCancelable: -32_002,
  pushNotSupported: -32_003,
  unsupportedOperation: -32_004,
  contentTypeNotSupported: -32_005,
  versionNotSupported: -32_009,
} as const;

const OFFERED: Readonly<Record<string, A2aMethod>> = {
  'tasks/send': { version: '0.1', action: 'send' },
  'message/send': { version: '0.3', action: 'send' },
  'message/stream': { version: '0.3', action: 'stream' },
  'tasks/get': { version: '0.3', action: 'get' },
  'tasks/cancel': { version: '0.3', action: 'cancel' },
  'tasks/resubscribe': { version: '0.3', action: 'subscribe' },
  SendMessage: { version: '1.0', action: 'send' },
  SendStreamingMessage: { version: '1.0', action: 'stream' },
  GetTask: { version: '1.0', action: 'get' },
  ListTasks: { version: '1.0', action: 'list' },
  CancelTask: { version: '1.0', action: 'cancel' },
  SubscribeToTask: { version: '1.0', action: 'subscribe' },
};

interface NotOffered {
  version: A2aVersion;
  rpcCode: number;
  detail: string;
}

const NO_PUSH = 'Push notifications are not supported: subscribe to the task, or read it again.';
const NO_CARD = 'There is no extended agent card; the public one says everything.';

const push = (version: A2aVersion): NotOffered => ({
  version,
  rpcCode: A2A_ERRORS.pushNotSupported,
  detail: NO_PUSH,
});
const extendedCard = (version: A2aVersion): NotOffered => ({
  version,
  rpcCode: A2A_ERRORS.unsupportedOperation,
  detail: NO_CARD,
});

const NOT_OFFERED: Readonly<Record<string, NotOffered>> = {
  'tasks/pushNotification/set': push('0.1'),
  'tasks/pushNotification/get': push('0.1'),
  'tasks/sendSubscribe': {
    version: '0.1',
    rpcCode: A2A_ERRORS.unsupportedOperation,
    detail: 'Streams are offered from version 0.3 on: message/stream, or SendStreamingMessage.',
  },
  'tasks/pushNotificationConfig/set': push('0.3'),
  'tasks/pushNotificationConfig/get': push('0.3'),
  'tasks/pushNotificationConfig/list': push('0.3'),
  'tasks/pushNotificationConfig/delete': push('0.3'),
  'agent/getAuthenticatedExtendedCard': extendedCard('0.3'),
  CreateTaskPushNotificationConfig: push('1.0'),
  GetTaskPushNotificationConfig: push('1.0'),
  ListTaskPushNotificationConfigs: push('1.0'),
  DeleteTaskPushNotificationConfig: push('1.0'),
  GetExtendedAgentCard: extendedCard('1.0'),
};

export const METHOD_NAMES: readonly string[] = Object.keys(OFFERED);

const entryOf = <T>(table: Readonly<Record<string, T>>, name: unknown): T | undefined =>
  typeof name === 'string' && Object.hasOwn(table, name) ? table[name] : undefined;

export const offeredMethod = (name: unknown): A2aMethod | undefined => entryOf(OFFERED, name);
export const methodNotOffered = (name: unknown): NotOffered | undefined => entryOf(NOT_OFFERED, name);

/** Refuses messages that ask for push notifications, because their caller would wait for something that never comes. */
export const pushRefusal = (version: A2aVersion): NotOffered => push(version);
