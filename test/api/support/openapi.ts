/** Answers against the server's own OpenAPI document. */
import { AnswerSchemas } from '../../blackbox/apiDocument.ts'
import type { Answer, ChainApi } from './chainApi.ts'

/** The problems of an answer to GET under its operation's template, one text per problem. */
export type ResponseCheck = (template: string, answer: Answer) => readonly string[]

export async function responseCheck(api: ChainApi): Promise<ResponseCheck> {
  const schemas = new AnswerSchemas((await api.get('/openapi.json')).body)
  return (template, { status, body }) => schemas.problems(template, 'GET', status, body)
}

/** Templates of operations, and paths whose answers are checked against them. */
export const documentedReads = [
  ['/v1/blocks', '/v1/blocks?limit=200'],
  ['/v1/blocks/{block}', '/v1/blocks/latest'],
  ['/v1/blocks/{block}', '/v1/blocks/0'],
  ['/v1/transactions', '/v1/transactions?limit=200&include=receipt,totalCount'],
  ['/v1/transactions', '/v1/transactions?limit=200&order=asc&include=receipt'],
  ['/v1/transfers', '/v1/transfers?limit=200&include=memo,totalCount'],
  ['/v1/transfers', '/v1/transfers?limit=200&include=crossToken,token,totalCount'],
  ['/v1/indexer/query', '/v1/indexer/query?sql=SELECT+num,hash,timestamp+FROM+blocks'],
  ['/status', '/status'],
  ['/health', '/health'],
  ['/ready', '/ready'],
  ['/v1/blocks/{block}', '/v1/blocks/9999'],
  ['/v1/transfers', '/v1/transfers?limit=1'],
] as const
