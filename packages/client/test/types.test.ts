import type * as contract from '@eloquentpoll/contracts';
import type { Static } from '@sinclair/typebox';
import t from 'tap';
import type * as client from '../src/eloquentpoll.ts';

// The client's types are written by hand, so that its file needs nothing. Here the compiler compares them with the
// contract's: a field that one of them has and the other has not, or has otherwise, does not compile.

/** Fields and their types, however they are put together. */
type Plain<T> = T extends (infer Item)[] ? Plain<Item>[] : T extends object ? { [Name in keyof T]: Plain<T[Name]> } : T;
type Same<A, B> = (<T>() => T extends Plain<A> ? 1 : 2) extends <T>() => T extends Plain<B> ? 1 : 2 ? true : false;

/** One line per shape: ours, the contract's, and `true` for "the same". */
interface Compared {
  pollRequest: Same<client.PollRequest, contract.SessionRequest>;
  pollResponse: Same<client.PollResponse, contract.PollResponse>;
  vote: Same<client.Vote, contract.VoteResult>;
  result: Same<client.ResultDetail, contract.ResultDetail>;
  recent: Same<client.RecentResult, contract.RecentResult>;
  history: Same<client.HistoryResult, contract.HistoryResult>;
  progress: Same<client.Progress, Static<typeof contract.Progress>>;
  status: Same<client.SessionStatus, contract.SessionStatusBody>;
  listedPoll: Same<client.ListedPoll, contract.ListedPoll>;
  pollList: Same<client.PollList, contract.PollList>;
  pollListQuery: Same<client.PollListQuery, contract.PollListQuery>;
  statuses: Same<client.SessionStatuses, contract.SessionStatuses>;
  quick: Same<client.QuickResult, contract.QuickPollResult>;
  quickRequest: Same<client.QuickRequest, Omit<contract.QuickPollRequest, 'q' | 'o'>>;
  estimate: Same<client.Estimate, contract.Estimate>;
  dryRun: Same<client.DryRun, contract.DryRunResult>;
  profiles: Same<client.Profiles, contract.ProfileListing>;
  feedback: Same<client.Feedback, contract.FeedbackRequest>;
  feedbackReceipt: Same<client.FeedbackReceipt, contract.FeedbackReceipt>;
  receipt: Same<client.ResultReceipt, contract.ResultReceipt>;
  receiptDays: Same<client.ReceiptDays, contract.ReceiptDays>;
  receiptKeys: Same<client.ReceiptKeys, contract.ReceiptKeys>;
  key: Same<client.ApiKey, contract.ApiKey>;
  newKey: Same<client.NewApiKey, contract.NewKey>;
  balance: Same<client.Balance, contract.Balance>;
  streamProgress: Same<client.StreamProgress, contract.StreamStarted>;
  streamEnd: Same<client.StreamEnd, contract.StreamComplete>;
  recovery: Same<client.Recovery, contract.Recovery>;
  batchRow: Same<client.BatchRow, Static<typeof contract.BatchRow>>;
  batchTerms: Same<client.BatchTerms, contract.BatchTerms>;
  batch: Same<client.Batch, contract.Batch>;
  batchRowError: Same<client.BatchRowError, contract.BatchRowError>;
  batchResult: Same<client.BatchResult, contract.BatchResult>;
  batchList: Same<client.BatchList, contract.BatchList>;
  batchListQuery: Same<client.BatchListQuery, contract.BatchListQuery>;
  batchDeleted: Same<client.BatchDeleted, contract.BatchDeleted>;
  batchReport: Same<client.BatchReport, contract.BatchReport>;
  keyTerms: Same<client.KeyTerms, contract.KeyRequest>;
  keyChange: Same<client.KeyChange, contract.KeyChange>;
  usage: Same<client.UsageReport, contract.UsageReport>;
  usageQuery: Same<client.UsageQuery, Omit<contract.UsageQuery, 'format'>>;
  usageBalance: Same<client.UsageBalance, contract.UsageBalance>;
  pollDeleted: Same<client.PollDeleted, contract.PollDeleted>;
  endpointRequest: Same<client.WebhookEndpointRequest, contract.WebhookEndpointRequest>;
  endpointChange: Same<client.WebhookEndpointChange, contract.WebhookEndpointChange>;
  endpoint: Same<client.WebhookEndpoint, contract.WebhookEndpoint>;
  newEndpoint: Same<client.NewWebhookEndpoint, contract.NewWebhookEndpoint>;
  webhookSecret: Same<client.WebhookSecret, contract.WebhookSecret>;
  delivery: Same<client.WebhookDelivery, contract.WebhookDelivery>;
  deliveryList: Same<client.WebhookDeliveryList, contract.WebhookDeliveryList>;
  deliveryQuery: Same<client.WebhookDeliveryQuery, contract.WebhookDeliveryQuery>;
}

const AGREE: { [Shape in keyof Compared]: Compared[Shape] & true } = {
  pollRequest: true,
  pollResponse: true,
  vote: true,
  result: true,
  recent: true,
  history: true,
  progress: true,
  status: true,
  listedPoll: true,
  pollList: true,
  pollListQuery: true,
  statuses: true,
  quick: true,
  quickRequest: true,
  estimate: true,
  dryRun: true,
  profiles: true,
  feedback: true,
  feedbackReceipt: true,
  receipt: true,
  receiptDays: true,
  receiptKeys: true,
  key: true,
  newKey: true,
  balance: true,
  streamProgress: true,
  streamEnd: true,
  recovery: true,
  batchRow: true,
  batchTerms: true,
  batch: true,
  batchRowError: true,
  batchResult: true,
  batchList: true,
  batchListQuery: true,
  batchDeleted: true,
  batchReport: true,
  keyTerms: true,
  keyChange: true,
  usage: true,
  usageQuery: true,
  usageBalance: true,
  pollDeleted: true,
  endpointRequest: true,
  endpointChange: true,
  endpoint: true,
  newEndpoint: true,
  webhookSecret: true,
  delivery: true,
  deliveryList: true,
  deliveryQuery: true,
};

t.test('the types of the client match the contract', async (t) => {
  t.ok(Object.values(AGREE).every(Boolean), 'compiled');
});
