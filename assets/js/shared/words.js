// Numbers and times as people read them.

export const absent = value => value === null || value === undefined;

export const percent = (share, digits = 1) => (absent(share) ? '–' : `${(100 * share).toFixed(digits)} %`);
// How likely an answer is: "72 %"; none is impossible and none is certain, so "under 1 %" and at most "99 %".
export const likelihood = share => (share < 0.01 ? 'under 1 %' : percent(Math.min(share, 0.99), 0));
// The same of an answer, which stands beside points: "72 % sure".
export const sure = share => `${likelihood(share)} sure`;
// Whether a suggestion that one key takes has to say that it is not sure: a share alone reads as a recommendation.
// From `limit` on, or from four of five, it is sure enough.
const SURE_ENOUGH = 0.8;
export const isDoubtful = (share, limit) => share < Math.min(limit, SURE_ENOUGH);
// Scores, votes, limits and similarities, of which 1 is a full one, as points: 0.123 is "12.3".
// Commands and REST give the figures themselves.
export const points = value => decimal(100 * value, 1);
// How alike two texts are; 100 is the same text.
export const similarityWords = cosine => `similarity ${points(cosine)} of 100`;
export const signedPoints = (value, digits = 1) => (value < 0 ? '' : '+') + decimal(100 * value, digits);
// With how many digits two shares in percent differ by what is told of them in points: 88.75 and 87.81, of one digit
// each, are 88.8 and 87.8, and their difference 0.9.
export function digitsThatAgree(before, after) {
  const told = (share, digits) => Number((100 * share).toFixed(digits));
  const agrees = digits =>
    Math.abs(Math.abs(told(after, digits) - told(before, digits)) - told(Math.abs(after - before), digits)) <
    10 ** -digits / 2;
  return [1, 2].find(agrees) ?? 3;
}
// A number with a true minus sign, which is as wide as a plus; one that rounds to zero has none.
export function decimal(value, digits) {
  const size = Math.abs(value).toFixed(digits);
  return value < 0 && Number(size) ? `−${size}` : size;
}
export const number = value => Number(value).toLocaleString('en-GB');
// Whether two texts are one but for space around them, and for how Unicode composes their signs.
export const sameText = (one, other) => one.trim().normalize() === other.trim().normalize();
// What a text is used for; one that is neither becomes an example with its label.
export const SETS = {train: 'examples', test: 'test texts', pool: 'in no set'};
// The word for a text without an intent: out of scope in a single-label project.
export const nothingFits = task => (task === 'multi-label' ? 'no intent' : 'out of scope');

// What the model says of a text that fits no intent; `closest` is the intent that came nearest.
export function outside(closest, {multi}) {
  if (multi) return closest ? `No intent. Closest: ${closest}, but not likely enough.` : 'No intent.';
  return closest ? `Out of scope. Closest: ${closest}, but too unlike its examples.` : 'Out of scope.';
}

// A value and the limit that it is held against, with `digits` after the point, or so many more that they differ.
const IN_POINTS = {factor: 100, digits: 1};
export const IN_DEVIATIONS = {factor: 1, digits: 2}; // of familiarity
function toldApart(value, line, {factor, digits: fewest}) {
  const told = digits => [value, line].map(one => decimal(factor * one, digits));
  const digits = [fewest, fewest + 1].find(n => new Set(told(n)).size > 1) ?? fewest + 2;
  return told(digits);
}

// On which side of the limit a value is, and how far from it: "8.8 below the limit of 24.5: too little". The figures
// are those that are written, so that a reader can add them up.
export function sideOfLimit(value, line, told = IN_POINTS) {
  const [held, limit] = toldApart(value, line, told);
  const [one, other] = [held, limit].map(words => Number(words.replace('−', '-')));
  const digits = limit.split('.')[1]?.length ?? 0;
  const [side, verdict] = value < line ? ['below', 'too little'] : ['above', 'enough'];
  const far = Math.abs(one - other);
  const where = far ? `${decimal(far, digits)} ${side}` : 'at';
  return `${where} the limit of ${limit}: ${verdict}`;
}

// By how much a text that fits no intent missed the limit, in the unit of the limit: never a percent, which would read
// as how sure the answer is.
export function missedLine({measure, familiarity, score, threshold}) {
  const inPoints = measure === 'votes';
  const told = inPoints ? IN_POINTS : IN_DEVIATIONS;
  const [held, line] = toldApart(inPoints ? score : familiarity, threshold, told);
  return inPoints ? `${held} points of the ${line} needed` : `a familiarity of ${held}; ${line} is needed`;
}

// A model's figure in short: accuracy, or for multi-label the share of exact matches. “F1” stood there unexplained.
// A text that is refused as out of scope is answered wrongly; older versions know only which intent came first.
export const rightShare = ({accuracy, answered_right: right}) => (absent(right) ? accuracy : right);
export const figuresOf = ({accuracy, answered_right, micro_f1: f1}) =>
  absent(f1)
    ? percent(rightShare({accuracy, answered_right}))
    : `${percent(accuracy)} exactly right`;

// A version's number in its name: 2 of "support desk@2".
export const numberOf = name => Number(name.slice(name.lastIndexOf('@') + 1));

// Trainings one after the other: "the model that comes with the studio → version 1 (Conversations) → version 2". Of a
// step, such as "p@1 dialogues", `names` holds what the page calls its recipe, if anything. `own` is the project that
// is shown: a version of another one is named by it.
export const BUNDLED = 'bundled';
export const bundledWords = 'the model that comes with the studio';
export const chainWords = (chain, own, names = new Map()) =>
  chain.map(step => stepWords(step, own, names)).join(' → ');
function stepWords(step, own, names) {
  if (step === BUNDLED) return bundledWords;
  const [, project, mine, recipe] = /^(.*)@(\d+)(?: (\S+))?$/.exec(step) ?? [];
  if (!mine) return step;
  const version = project === own ? `version ${mine}` : `version ${mine} of ${project}`;
  return names.has(recipe) ? `${version} (${names.get(recipe)})` : version;
}

// Signs that turn the order of the letters after them are shown as words and turn nothing.
const TURNS = new Map(
  Object.entries({
    '\u202a': '[LRE]',
    '\u202b': '[RLE]',
    '\u202c': '[PDF]',
    '\u202d': '[LRO]',
    '\u202e': '[RLO]',
    '\u2066': '[LRI]',
    '\u2067': '[RLI]',
    '\u2068': '[FSI]',
    '\u2069': '[PDI]',
  }),
);
export const unturned = words => words.replace(/[\u202a-\u202e\u2066-\u2069]/g, sign => TURNS.get(sign));

// Whether two texts are the same but for their line ends: a field for several lines has line ends of its own.
const withLineFeeds = words => words.replace(/\r\n?/g, '\n');
export const sameLines = (one, other) => withLineFeeds(one) === withLineFeeds(other);

// Names without the signs that part them from the words of a sentence, where they stand alone.
export const unquoted = words => words.replace(/[“”]/g, '');

// The words of a button that shows more of a list: "Show all 28", "Show 50 more, of 140 in all".
export const moreWords = (shown, total, atOnce) =>
  total - shown <= atOnce ? `Show all ${number(total)}` : `Show ${number(atOnce)} more, of ${number(total)} in all`;
// What was found by kind, such as “3 names”, as a list to be joined.
export const kindsOf = found => Object.entries(found).map(([kind, n]) => `${number(n)} ${kind}`);
export const capital = words => words[0].toUpperCase() + words.slice(1);
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

// Whole minutes and hours that have passed: “1 h ago” from the end of the first hour on.
export function ago(stamp) {
  const seconds = (Date.now() - Date.parse(stamp)) / 1000;
  if (seconds < 60) return 'just now';
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(stamp).toLocaleDateString('en-GB', {day: 'numeric', month: 'short', year: 'numeric'});
}

export function duration(seconds) {
  if (absent(seconds)) return '';
  if (seconds < 60) return `${Math.max(1, Math.round(seconds))} s left`;
  return `${Math.round(seconds / 60)} min left`;
}

// A size as the server writes it: a MB has 1,000,000 bytes.
export const megabytes = (bytes, digits = 1) => `${(bytes / 1_000_000).toFixed(digits)} MB`;
