// A producer with Sarama: `sarama TASK`.
package main

import (
	"fmt"
	"hash"
	"math"
	"strings"

	"github.com/IBM/sarama"

	"onceproof/clients/contract"
)

type client struct {
	producer sarama.AsyncProducer
}

func main() { contract.Main(open) }

func open(task contract.Task) (contract.Transactional, error) {
	given := contract.Settings(task.Client)
	given.Only("Metadata.Retry.Backoff", "Metadata.Retry.Max", "Net.DialTimeout",
		"Net.MaxOpenRequests", "Net.ReadTimeout", "Producer.Flush.Frequency",
		"Producer.Idempotent", "Producer.Retry.Backoff", "Producer.Retry.Max",
		"Producer.Timeout", "Producer.Transaction.Timeout")
	config := sarama.NewConfig()
	config.ClientID = task.Name
	config.Version = sarama.V4_0_0_0
	config.Net.DialTimeout = given.Duration("Net.DialTimeout")
	config.Net.ReadTimeout = given.Duration("Net.ReadTimeout")
	config.Net.MaxOpenRequests = given.Int("Net.MaxOpenRequests")
	config.Metadata.Retry.Max = given.Int("Metadata.Retry.Max")
	config.Metadata.Retry.Backoff = given.Duration("Metadata.Retry.Backoff")
	config.Metadata.AllowAutoTopicCreation = false
	config.Producer.RequiredAcks = sarama.WaitForAll
	config.Producer.Idempotent = given.Bool("Producer.Idempotent")
	config.Producer.Timeout = given.Duration("Producer.Timeout")
	config.Producer.MaxMessageBytes = math.MaxInt32 // the brokers' limit counts
	config.Producer.Retry.Max = given.Int("Producer.Retry.Max")
	config.Producer.Retry.Backoff = given.Duration("Producer.Retry.Backoff")
	config.Producer.Flush.Frequency = given.Duration("Producer.Flush.Frequency")
	config.Producer.Return.Successes = true
	config.Producer.Partitioner = sarama.NewCustomPartitioner(
		sarama.WithCustomHashFunction(newMurmur2), sarama.WithHashUnsigned())
	if task.TransactionalID != nil {
		config.Producer.Transaction.ID = *task.TransactionalID
		config.Producer.Transaction.Timeout = given.Duration("Producer.Transaction.Timeout")
	}
	// With transactions it asks for its producer id now, which ends an open one of its predecessor.
	producer, err := sarama.NewAsyncProducer(strings.Split(task.Bootstrap, ","), config)
	if err != nil {
		return nil, err
	}
	made := &client{producer: producer}
	go made.successes()
	go made.failures()
	return made, nil
}

func (c *client) successes() {
	for sent := range c.producer.Successes() {
		sent.Metadata.(func(contract.Outcome))(
			contract.Outcome{Partition: sent.Partition, Offset: sent.Offset})
	}
}

func (c *client) failures() {
	for failed := range c.producer.Errors() {
		failed.Msg.Metadata.(func(contract.Outcome))(contract.Outcome{Err: failed.Err})
	}
}

func (c *client) Send(topic string, key, value []byte, headers []contract.Header,
	done func(contract.Outcome)) {
	message := &sarama.ProducerMessage{
		Topic: topic, Key: sarama.ByteEncoder(key), Metadata: done,
	}
	if value != nil {
		message.Value = sarama.ByteEncoder(value)
	}
	for _, header := range headers {
		own := sarama.RecordHeader{Key: []byte(header.Name), Value: header.Value}
		message.Headers = append(message.Headers, own)
	}
	c.producer.Input() <- message
}

func (c *client) Close() {
	if err := c.producer.Close(); err != nil {
		fmt.Println(err)
	}
}

func (c *client) Begin() error { return c.producer.BeginTxn() }

// End does as the library's examples do: it asks for the producer's status after an error.
func (c *client) End(commit bool) contract.Ending {
	if !commit {
		return c.abort("aborted", nil)
	}
	for {
		err := c.producer.CommitTxn()
		status := c.producer.TxnStatus()
		switch {
		case err == nil:
			return contract.Ending{Outcome: "committed", Usable: true}
		case status&sarama.ProducerTxnFlagFatalError != 0:
			return contract.Ending{Outcome: "info", Err: err}
		case status&sarama.ProducerTxnFlagAbortableError != 0:
			return c.abort("info", err)
		}
	}
}

func (c *client) abort(outcome string, why error) contract.Ending {
	for {
		err := c.producer.AbortTxn()
		if err == nil {
			return contract.Ending{Outcome: outcome, Err: why, Usable: true}
		}
		if c.producer.TxnStatus()&sarama.ProducerTxnFlagFatalError != 0 {
			return contract.Ending{Outcome: "info", Err: err}
		}
	}
}

// murmur2 is the hash of Kafka's own partitioner, without its sign.
type murmur2 struct{ data []byte }

func newMurmur2() hash.Hash32 { return &murmur2{} }

func (m *murmur2) Write(data []byte) (int, error) {
	m.data = append(m.data, data...)
	return len(data), nil
}

func (m *murmur2) Sum(before []byte) []byte { return before }

func (m *murmur2) Reset() { m.data = m.data[:0] }

func (m *murmur2) Size() int { return 4 }

func (m *murmur2) BlockSize() int { return 4 }

func (m *murmur2) Sum32() uint32 {
	const mixer = uint32(0x5bd1e995)
	data := m.data
	found := uint32(0x9747b28c) ^ uint32(len(data))
	for ; len(data) >= 4; data = data[4:] {
		k := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24
		k *= mixer
		k ^= k >> 24
		k *= mixer
		found = found*mixer ^ k
	}
	for place := len(data) - 1; place >= 0; place-- {
		found ^= uint32(data[place]) << (8 * place)
		if place == 0 {
			found *= mixer
		}
	}
	found ^= found >> 13
	found *= mixer
	found ^= found >> 15
	return found & 0x7fffffff
}
