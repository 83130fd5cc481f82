package s3

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// Prefix begins the name of a place in a bucket.
const Prefix = "s3://"

// config is what the environment and the user's profile say, as the AWS tools read them.
type config struct {
	endpoint, region string
	secure, given    bool // https; an endpoint was named
	chain            *credentials.Credentials
	secrets          []string
}

// configOf reads AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL, AWS_REGION or AWS_DEFAULT_REGION, the keys, and of
// the files in ~/.aws the profile AWS_PROFILE.
func configOf() (c config, err error) {
	profile := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	home, _ := os.UserHomeDir()
	file := cmp.Or(os.Getenv("AWS_CONFIG_FILE"), filepath.Join(home, ".aws", "config"))
	section := ini.Empty().Section("")
	if all, err := ini.LooseLoad(file); err == nil && profile == "default" {
		section = all.Section(profile)
	} else if err == nil {
		section = all.Section("profile " + profile)
	}
	c.region = cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), section.Key("region").String())
	c.secure, c.endpoint = true, "s3.amazonaws.com"
	text := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), section.Key("endpoint_url").String())
	if text != "" {
		u, err := url.Parse(text)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
			strings.Trim(u.Path, "/") != "" {
			return c, errors.New("the endpoint (AWS_ENDPOINT_URL) is no address: want http://HOST:PORT or https://HOST")
		}
		c.endpoint, c.secure, c.given = u.Host, u.Scheme == "https", true
	}
	c.chain = credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{}, &credentials.EnvMinio{}, &credentials.FileAWSCredentials{}})
	v, err := c.chain.GetWithContext(&credentials.CredContext{Client: http.DefaultClient})
	if err == nil && v.AccessKeyID != "" {
		c.secrets = []string{v.SecretAccessKey, v.SessionToken, v.AccessKeyID}
	} else {
		c.chain = credentials.NewStaticV4("", "", "") // anonymous
	}
	return c, nil
}

// split is the bucket and the prefix of s3://BUCKET/PREFIX; the prefix ends with a slash unless it is "".
func split(place string) (bucket, prefix string, err error) {
	rest, ok := strings.CutPrefix(place, Prefix)
	bucket, prefix, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" {
		return "", "", errors.New("want s3://BUCKET/PREFIX")
	}
	if prefix = strings.Trim(prefix, "/"); prefix != "" {
		prefix += "/"
	}
	return bucket, prefix, nil
}

// explain says in a line what an error of the store means for the user, without any secret.
func (b *Bucket) explain(err error) error {
	if err == nil {
		return nil
	}
	text := ""
	switch r := minio.ToErrorResponse(err); r.Code {
	case minio.NoSuchBucket:
		text = "there is no bucket " + b.bucket
	case minio.NoSuchKey:
		text = "there is no such object"
	case minio.AccessDenied, "AllAccessDisabled":
		text = "access is denied"
		if b.config.secrets == nil {
			text += " without credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"
		}
	case "InvalidAccessKeyId", "XAdminUserNotFound", "SignatureDoesNotMatch", "ExpiredToken", "InvalidToken",
		"TokenRefreshRequired":
		text = "the credentials are refused (" + r.Code + ")"
	case "RequestTimeTooSkewed":
		text = "this machine's clock and the store's differ: set the clock"
	case "PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "Redirect",
		"TemporaryRedirect":
		text = "the bucket is in another region: set AWS_REGION"
		if r.Region != "" {
			text += "=" + r.Region
		}
	case "InvalidRange":
		text = "the object is shorter than the store lists"
	case minio.PreconditionFailed:
		text = "the object changed after it was listed"
	case "SlowDown", "SlowDownRead", "ServiceUnavailable", "TooManyRequests":
		text = "the store throttles (" + r.Code + "), even after several tries"
	default:
		text = b.redact(err.Error())
	}
	return &storeError{fmt.Sprintf("%s: %s", b, text), err}
}

// storeError says what an error means, in words of ours, and keeps what it is.
type storeError struct {
	text string
	err  error
}

func (e *storeError) Error() string { return e.text }
func (e *storeError) Unwrap() error { return e.err }

func (b *Bucket) redact(text string) string {
	for _, secret := range b.config.secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "***")
		}
	}
	return text
}
