/** The demo company's templates: one of every kind that the two APIs can send, none of which needs a file. */
import type { TemplateInput } from '../../store/templates.ts'

const whatsapp = (name: string, category: 'marketing' | 'utility' | 'authentication') => ({
  name,
  language: 'en',
  parameterFormat: 'positional' as const,
  category,
})

const orderEmail = `<html>
<head><style>
  @media (max-width: 600px) { .box { width: 100% } }
</style></head>
<body>
  <div class="box">
    <h1>Thank you!</h1>
    <p>Your order <b>@OrderNumber</b> over <b>@Amount</b> is confirmed.</p>
  </div>
</body>
</html>
`

export const demoTemplates: readonly TemplateInput[] = [
  {
    name: 'Order confirmation',
    code: 'order-confirmation',
    channel: 'email',
    kind: 'text',
    content: {
      subject: 'Order @OrderNumber is confirmed',
      body: orderEmail,
      buttons: [],
      variables: ['OrderNumber', 'Amount'],
    },
  },
  {
    name: 'Appointment reminder',
    code: 'appointment-reminder',
    channel: 'sms',
    kind: 'text',
    content: {
      body: 'Your appointment is on @Date at @Time. See you then!',
      buttons: [],
      variables: ['Date', 'Time'],
    },
  },
  {
    name: 'Delivery update',
    code: 'delivery-update',
    channel: 'whatsapp',
    kind: 'text',
    content: {
      body: 'Your order @OrderNumber has left and should reach you on @Date.',
      footer: 'Pombo Demo',
      buttons: [{ kind: 'quick_reply', text: 'Thank you' }],
      variables: ['OrderNumber', 'Date'],
      provider: whatsapp('delivery_update', 'utility'),
    },
  },
  {
    // Numbered variables that are not given take joker 1, joker 2 …
    name: 'Payment reminder',
    code: 'payment-reminder',
    channel: 'whatsapp',
    kind: 'text',
    content: {
      body: 'Hello @1, your invoice over @2 is due this week.',
      buttons: [],
      variables: ['1', '2'],
      provider: whatsapp('payment_reminder', 'utility'),
    },
  },
  {
    name: 'Invoice',
    code: 'invoice',
    channel: 'whatsapp',
    kind: 'text',
    content: {
      header: { kind: 'text', text: 'Invoice @InvoiceNumber' },
      body: 'The invoice over @Amount is due on @DueDate. Reply to this message if anything is unclear.',
      buttons: [{ kind: 'url', text: 'See the invoice', url: 'https://example.com/invoices/@InvoiceNumber' }],
      variables: ['InvoiceNumber', 'Amount', 'DueDate'],
      provider: whatsapp('invoice', 'utility'),
    },
  },
  {
    name: 'Personal greeting',
    code: 'personal-greeting',
    channel: 'sms',
    kind: 'text',
    content: {
      body: 'Hello @FirstName, @Company has news about @Subject for you.',
      buttons: [],
      variables: ['FirstName', 'Company', 'Subject'],
    },
  },
  {
    name: 'Spring offers',
    code: 'spring-offers',
    channel: 'whatsapp',
    kind: 'carousel',
    content: {
      body: 'Three things that are new in our shop this week:',
      buttons: [],
      cards: ['Tulips', 'Daffodils', 'Crocuses'].map((flower) => ({
        body: `${flower}, fresh from the garden`,
        buttons: [{ kind: 'quick_reply', text: 'I want these' }],
      })),
      variables: [],
      provider: whatsapp('spring_offers', 'marketing'),
    },
  },
  {
    name: 'Verification code',
    code: 'verification-code',
    channel: 'whatsapp',
    kind: 'verification',
    content: {
      body: '@Code is your verification code.',
      buttons: [{ kind: 'code', text: 'Copy code', value: '@Code' }],
      variables: ['Code'],
      provider: whatsapp('verification_code', 'authentication'),
    },
  },
]
