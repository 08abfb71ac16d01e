import type { PaymentsContext } from '../payments/context.ts';
import type { PollsContext } from '../polls/context.ts';

export type OperatorsContext = PollsContext & PaymentsContext;
