/**
 * Words for the same wish: a phrase of a group also finds what is written with another one. General
 * vocabulary of what APIs do; no service is named, and nothing here was chosen to make a judged
 * query come out.
 */
import { wordsOf } from './words.ts'

const groups: readonly (readonly string[])[] = [
  [
    'cafe',
    'coffee shop',
    'restaurant',
    'bar',
    'places',
    'nearby places',
    'points of interest',
    'local business',
  ],
  ['hotel', 'lodging', 'accommodation', 'stays'],
  ['flight', 'airfare', 'plane ticket', 'airline'],
  ['route', 'directions', 'navigation', 'travel time'],
  ['map', 'geocoding', 'address lookup', 'coordinates', 'location'],
  ['weather', 'forecast', 'temperature', 'climate'],
  ['stock', 'equity', 'ticker', 'share price', 'stock quote', 'market data'],
  ['exchange rate', 'currency conversion', 'forex', 'fx'],
  ['crypto', 'token price', 'coin', 'cryptocurrency'],
  ['wallet', 'onchain', 'on chain', 'blockchain', 'address balance'],
  ['nft', 'collectible'],
  ['company filing', 'sec filing', 'annual report', '10-k', 'edgar'],
  ['company', 'firm', 'business', 'organization', 'firmographics'],
  ['person', 'people', 'contact', 'lead', 'prospect'],
  ['contact enrichment', 'enrich contact', 'people enrich', 'person enrich', 'enrich people', 'enrich lead'],
  ['company enrichment', 'enrich company', 'organization enrich', 'firmographics'],
  ['email address', 'email finder', 'find email', 'work email'],
  ['verify email', 'email validation', 'email verification', 'deliverability'],
  ['send email', 'outbound email', 'mail a message', 'transactional email'],
  ['sms', 'text message', 'texting'],
  ['phone call', 'voice call', 'dial', 'telephony'],
  ['letter', 'postcard', 'physical mail', 'postal mail'],
  [
    'technology stack',
    'tech stack',
    'technographics',
    'technologies used',
    'built with',
    'company enrich',
    'org enrich',
    'organization enrich',
  ],
  ['job', 'vacancy', 'job posting', 'hiring'],
  ['resume', 'cv', 'curriculum vitae'],
  ['scrape', 'scraping', 'crawl', 'web extraction', 'fetch page', 'page content'],
  ['screenshot', 'page capture', 'webpage image'],
  ['browser', 'headless browser', 'browser automation'],
  ['web search', 'search the web', 'internet search', 'search engine', 'google search', 'serp'],
  ['news', 'headlines', 'articles', 'press'],
  ['research', 'deep research', 'investigate'],
  ['paper', 'academic', 'scholar', 'publication', 'citation'],
  ['summarize', 'summary', 'summarization', 'tldr'],
  ['translate', 'translation', 'localize'],
  ['transcribe', 'transcription', 'speech to text', 'stt', 'speech recognition'],
  ['text to speech', 'tts', 'voice synthesis', 'narrate', 'read aloud'],
  ['voice clone', 'voice cloning'],
  ['music', 'song', 'audio generation', 'soundtrack'],
  ['image generation', 'generate image', 'text to image', 'picture', 'draw', 'illustration'],
  ['image editing', 'edit image', 'inpainting', 'retouch'],
  ['remove background', 'background removal', 'cutout'],
  ['upscale', 'super resolution', 'enhance image'],
  ['video generation', 'generate video', 'text to video', 'image to video', 'animate'],
  ['ocr', 'text recognition', 'read text from image', 'scan document'],
  ['pdf extraction', 'parse pdf', 'document parsing', 'extract document', 'extract content', 'extract page'],
  ['face', 'facial', 'identity verification', 'kyc', 'liveness'],
  ['llm', 'language model', 'chat completion', 'text generation', 'chatbot'],
  ['embedding', 'vector', 'text embedding'],
  ['rerank', 'reranking', 'relevance ranking'],
  ['moderation', 'content safety', 'toxicity'],
  ['sentiment', 'opinion mining'],
  ['run code', 'code execution', 'code sandbox', 'code interpreter', 'execute code', 'sandbox'],
  ['virtual machine', 'vm', 'compute instance', 'server'],
  ['gpu', 'serverless gpu', 'model inference'],
  ['storage', 'file hosting', 'object storage', 'upload file', 'bucket'],
  ['database', 'sql', 'sqlite', 'postgres'],
  ['domain', 'domain name', 'dns', 'whois'],
  ['ip address', 'ip geolocation', 'geoip'],
  ['captcha', 'captcha solving'],
  ['proxy', 'residential proxy', 'vpn'],
  ['social media', 'tweet', 'twitter', 'x posts', 'instagram', 'tiktok', 'influencer', 'creator'],
  ['linkedin', 'professional profile'],
  ['review', 'rating', 'customer review'],
  ['product', 'shopping', 'buy', 'e-commerce', 'purchase', 'order goods', 'amazon'],
  ['gift card', 'voucher', 'prepaid card'],
  ['real estate', 'property', 'housing', 'home value'],
  ['court', 'legal', 'case law', 'litigation'],
  ['patent', 'trademark', 'intellectual property'],
  ['drug', 'medicine', 'medication', 'pharmaceutical'],
  ['clinical trial', 'medical study'],
  ['doctor', 'health provider', 'npi'],
  ['sport', 'match score', 'fixture', 'league'],
  ['odds', 'betting', 'prediction market'],
  ['vehicle', 'car', 'vin', 'automotive'],
  ['satellite', 'earth observation', 'aerial'],
  ['qr code', 'barcode'],
  ['seo', 'keyword research', 'backlink'],
  ['advertising', 'ads', 'ppc', 'ad campaign'],
  ['funding', 'investor', 'venture capital', 'fundraising'],
  ['invoice', 'receipt', 'billing'],
  ['calendar', 'schedule', 'appointment', 'meeting'],
  ['random', 'random number', 'entropy'],
  ['time zone', 'local time', 'clock'],
]

/** A group's phrases as words, by the first word of each. */
export interface Phrase {
  readonly words: readonly string[]
  readonly group: number
}

export const phrasesOfGroup: readonly (readonly (readonly string[])[])[] = groups.map((phrases) =>
  phrases.map((phrase) => wordsOf(phrase)),
)

const byFirstWord = Map.groupBy(
  phrasesOfGroup.flatMap((phrases, group) => phrases.map((words): Phrase => ({ words, group }))),
  ({ words }) => words[0] ?? '',
)

/** The phrases that stand at a place of a text, longest first. */
export function phrasesAt(words: readonly string[], index: number): readonly Phrase[] {
  const candidates = byFirstWord.get(words[index] ?? '') ?? []
  return candidates
    .filter((phrase) => phrase.words.every((word, offset) => words[index + offset] === word))
    .sort((a, b) => b.words.length - a.words.length)
}
